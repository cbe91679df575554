// upc_resetphase: the same object, phase 0 (7.2.3).
#include <upc.h>
#include "check.h"

shared [4] int a[8 * THREADS];

int main(void)
{
    for (int i = 0; i < 8 * THREADS; i++) {
        shared void *p = upc_resetphase(&a[i]);
        CHECK_EQ(upc_phaseof(p), 0);
        CHECK_EQ(upc_threadof(p), i / 4 % THREADS);
        CHECK(p == &a[i]);
        shared [4] int *q = upc_resetphase(&a[i]);
        CHECK_EQ(upc_threadof(q + 3), i / 4 % THREADS);
        CHECK_EQ(upc_threadof(q + 4), (i / 4 + 1) % THREADS);
    }
    return check_failures;
}
