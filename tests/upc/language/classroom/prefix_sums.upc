// Prefix sums by doubling distances (Hillis and Steele).
#include "check.h"

enum { PART = 7 };
#define N (PART * THREADS)
shared [PART] long sums[2][PART * THREADS];

int main(void)
{
    int from = 0;
    upc_forall (int i = 0; i < N; i++; i)
        sums[0][i] = i * i - 3;
    upc_barrier;
    for (int distance = 1; distance < N; distance *= 2) {
        upc_forall (int i = 0; i < N; i++; i)
            sums[!from][i] = sums[from][i] + (i >= distance ? sums[from][i - distance] : 0);
        from = !from;
        upc_barrier;
    }
    long sum = 0;
    for (int i = 0; i < N; i++) {
        sum += i * i - 3;
        CHECK_EQ(sums[from][i], sum);
    }
    return check_failures;
}
