// Side effects of the affinity expression happen in every iteration on every thread.
#include "check.h"

shared int who[4 * THREADS];

int main(void)
{
    int next = 0;
    upc_forall (int i = 0; i < 4 * THREADS; i++; next++)
        who[i] = MYTHREAD + 1;
    CHECK_EQ(next, 4 * THREADS);
    upc_barrier;
    for (int i = 0; i < 4 * THREADS; i++)
        CHECK_EQ(who[i], i % THREADS + 1);
    return check_failures;
}
