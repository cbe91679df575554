// upc_global_lock_alloc: each calling thread gets a lock of its own, usable by all (7.2.4).
#include <upc.h>
#include "check.h"

upc_lock_t *shared locks[THREADS];
shared int guarded[THREADS];

int main(void)
{
    locks[MYTHREAD] = upc_global_lock_alloc();
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        for (int u = 0; u < t; u++)
            CHECK(locks[t] != locks[u]);
    for (int round = 0; round < 20; round++)
        for (int t = 0; t < THREADS; t++) {
            upc_lock(locks[t]);
            guarded[t] += 1;
            upc_unlock(locks[t]);
        }
    upc_barrier;
    CHECK_EQ(guarded[MYTHREAD], 20 * THREADS);
    upc_lock_free(locks[MYTHREAD]);
    return check_failures;
}
