// MYTHREAD is an expression of type int with the unique index of the current thread, 0 .. THREADS-1 (6.3.2).
#include "check.h"

shared int taken[THREADS];

int main(void)
{
    CHECK(0 <= MYTHREAD && MYTHREAD < THREADS);
    CHECK(_Generic(MYTHREAD, int: 1, default: 0));
    taken[MYTHREAD] = MYTHREAD + 1;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(taken[t], t + 1);
    return check_failures;
}
