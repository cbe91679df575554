// upc_all_lock_alloc: every thread gets the same lock (7.2.4).
#include <upc.h>
#include "check.h"

upc_lock_t *shared said[THREADS];

int main(void)
{
    upc_lock_t *a = upc_all_lock_alloc(), *b = upc_all_lock_alloc();
    said[MYTHREAD] = a;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK(said[t] == a);
    CHECK(a != b && a != NULL);
    upc_barrier;
    if (MYTHREAD == 0) {
        upc_lock_free(a);
        upc_lock_free(b);
    }
    return check_failures;
}
