// THREADS is an expression of type int, the same on every thread, and greater than 0 (6.3.1).
#include "check.h"

shared int said[THREADS];

int main(void)
{
    CHECK(THREADS >= 1);
    CHECK_EQ(sizeof(THREADS), sizeof(int));
    CHECK(_Generic(THREADS, int: 1, default: 0));
    said[MYTHREAD] = THREADS;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(said[t], THREADS);
    return check_failures;
}
