// A lock may be freed while a thread holds it, and another one at its place is free or another thread's (7.2.4.5).
// threads: 2 3 4
#include <upc.h>
#include "check.h"

int main(void)
{
    const int last = MYTHREAD == THREADS - 1;
    upc_lock_t *locks[THREADS];
    for (int i = 0; i < THREADS; i++)
        locks[i] = upc_all_lock_alloc();
    if (last)
        upc_lock(locks[0]);
    upc_barrier;
    upc_all_lock_free(locks[0]);
    upc_lock_t *again = upc_all_lock_alloc();
    CHECK(again == locks[0]);
    if (MYTHREAD == 0)
        upc_lock(again);
    upc_barrier;
    if (last)
        CHECK(!upc_lock_attempt(again));
    upc_barrier;
    if (MYTHREAD == 0)
        upc_unlock(again);
    upc_lock(again);
    upc_unlock(again);
    return check_failures;
}
