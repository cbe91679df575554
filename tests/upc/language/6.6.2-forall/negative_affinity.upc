// The remainder of a negative affinity is the mathematical one: 0 .. THREADS-1 (6.6.2).
#include "check.h"

shared int who[4 * THREADS];

int main(void)
{
    upc_forall (int i = -2 * THREADS; i < 2 * THREADS; i++; i)
        who[i + 2 * THREADS] += MYTHREAD + 1;
    upc_barrier;
    for (int i = 0; i < 4 * THREADS; i++)
        CHECK_EQ(who[i], i % THREADS + 1);
    return check_failures;
}
