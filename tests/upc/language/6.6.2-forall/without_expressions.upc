// The first expression and the step may be missing as in for; an affinity with a side effect may do the step (6.6.2).
#include "check.h"

shared int a[3 * THREADS], b[3 * THREADS];

int main(void)
{
    int i = 0;
    upc_forall (; i < 3 * THREADS; i++; i)
        a[i] = 1 + MYTHREAD;
    CHECK_EQ(i, 3 * THREADS);
    i = 0;
    upc_forall (; i < 3 * THREADS;; i++)
        b[i - 1] = 1 + MYTHREAD;
    CHECK_EQ(i, 3 * THREADS);
    upc_barrier;
    for (i = 0; i < 3 * THREADS; i++)
        CHECK(a[i] == 1 + i % THREADS && b[i] == 1 + i % THREADS);
    return check_failures;
}
