// upc_all_prefix_reduce: element i of the destination is the reduction of elements 0 .. i of the source (7.3.4).
#include <upc_collective.h>
#include "check.h"

shared [3] int from[9 * THREADS], to[9 * THREADS];
shared [2] double d_from[4 * THREADS], d_to[4 * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 9 * THREADS; i++; &from[i])
        from[i] = i % 4 + 1;
    upc_forall (int i = 0; i < 4 * THREADS; i++; &d_from[i])
        d_from[i] = i % 3 ? 0.25 * i : -1.0;
    upc_all_prefix_reduceI(to, from, UPC_ADD, 9 * THREADS, 3, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    int sum = 0;
    for (int i = 0; i < 9 * THREADS; i++) {
        sum += i % 4 + 1;
        CHECK_EQ(to[i], sum);
    }
    upc_all_prefix_reduceD(d_to, d_from, UPC_MAX, 4 * THREADS, 2, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    double most = -2;
    for (int i = 0; i < 4 * THREADS; i++) {
        double x = i % 3 ? 0.25 * i : -1.0;
        most = x > most ? x : most;
        CHECK(d_to[i] == most);
    }
    return check_failures;
}
