// Jacobi's iteration in one dimension: the ends are fixed, the rest becomes the line between them.
#include <math.h>
#include "check.h"

enum { PART = 6 };
#define N (PART * THREADS)
shared [PART] double now[PART * THREADS], next[PART * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < N; i++; &now[i])
        now[i] = next[i] = i == N - 1 ? 1.0 : 0.0;
    upc_barrier;
    for (int round = 0; round < 300; round++) {
        shared [PART] double *from = round % 2 ? next : now, *to = round % 2 ? now : next;
        upc_forall (int i = 0; i < N; i++; &to[i])
            if (0 < i && i < N - 1)
                to[i] = (from[i - 1] + from[i + 1]) / 2;
        upc_barrier;
    }
    double private[N], other[N];
    for (int i = 0; i < N; i++)
        private[i] = other[i] = i == N - 1;
    for (int round = 0; round < 300; round++)
        for (int i = 1; i < N - 1; i++)
            (round % 2 ? private : other)[i] = round % 2 ? (other[i - 1] + other[i + 1]) / 2 : (private[i - 1] + private[i + 1]) / 2;
    for (int i = 0; i < N; i++)
        CHECK(fabs(now[i] - private[i]) < 1e-12);
    return check_failures;
}
