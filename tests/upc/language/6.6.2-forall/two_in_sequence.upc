// Loops one after the other, within a plain loop: each controls by itself.
#include "check.h"

shared int a[4 * THREADS], b[4 * THREADS];

int main(void)
{
    for (int round = 0; round < 3; round++) {
        upc_forall (int i = 0; i < 4 * THREADS; i++; &a[i])
            a[i] = i + round;
        upc_barrier;
        upc_forall (int i = 0; i < 4 * THREADS; i++; i + 1)
            b[i] = a[i] * 2 + (MYTHREAD == (i + 1) % THREADS);
        upc_barrier;
        for (int i = 0; i < 4 * THREADS; i++)
            CHECK_EQ(b[i], 2 * (i + round) + 1);
        upc_barrier;
    }
    return check_failures;
}
