// A loop of upc_lock_attempt takes the lock in the end.
#include <upc.h>
#include "check.h"

shared int counter;

int main(void)
{
    upc_lock_t *lock = upc_all_lock_alloc();
    for (int i = 0; i < 10; i++) {
        while (!upc_lock_attempt(lock))
            ;
        counter++;
        upc_unlock(lock);
    }
    upc_barrier;
    CHECK_EQ(counter, 10 * THREADS);
    return check_failures;
}
