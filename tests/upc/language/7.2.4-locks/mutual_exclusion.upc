// A lock is held by one thread at a time; what was written under it is seen by who holds it next (7.2.4).
#include <upc.h>
#include "check.h"

shared long counter;
shared [] int sequence[4];

int main(void)
{
    upc_lock_t *lock = upc_all_lock_alloc();
    for (int i = 0; i < 50; i++) {
        upc_lock(lock);
        counter = counter + 1;
        for (int k = 0; k < 4; k++)
            sequence[k]++;
        upc_unlock(lock);
    }
    upc_barrier;
    CHECK_EQ(counter, 50 * THREADS);
    for (int k = 0; k < 4; k++)
        CHECK_EQ(sequence[k], 50 * THREADS);
    upc_all_lock_free(lock);
    return check_failures;
}
