// Locks are independent: a thread may hold several, nested, and release them in any order (7.2.4).
#include <upc.h>
#include "check.h"

shared int left, right;

int main(void)
{
    upc_lock_t *a = upc_all_lock_alloc(), *b = upc_all_lock_alloc();
    for (int i = 0; i < 20; i++) {
        upc_lock(a);
        upc_lock(b);
        left++;
        right--;
        CHECK_EQ(left + right, 0);
        upc_unlock(a);
        upc_unlock(b);
    }
    upc_barrier;
    CHECK_EQ(left, 20 * THREADS);
    return check_failures;
}
