// upc_lock_attempt: 1 and the lock, or 0 when another thread holds it (7.2.4).
#include <upc.h>
#include "check.h"

int main(void)
{
    upc_lock_t *lock = upc_all_lock_alloc();
    if (MYTHREAD == 0)
        CHECK_EQ(upc_lock_attempt(lock), 1);
    upc_barrier;
    if (MYTHREAD != 0)
        CHECK_EQ(upc_lock_attempt(lock), 0);
    upc_barrier;
    if (MYTHREAD == 0)
        upc_unlock(lock);
    upc_barrier;
    for (int t = 0; t < THREADS; t++) {
        if (t == MYTHREAD) {
            CHECK_EQ(upc_lock_attempt(lock), 1);
            upc_unlock(lock);
        }
        upc_barrier;
    }
    return check_failures;
}
