// After a cast to another block size the phase is 0: the block starts anew at the element (6.4.2, 6.4.3).
#include <upc.h>
#include "check.h"

shared [6] int a[12 * THREADS];

int main(void)
{
    shared [3] int *p = (shared [3] int *)&a[1];
    CHECK_EQ(upc_phaseof(p), 0);
    CHECK_EQ(upc_threadof(p), 0);
    CHECK_EQ(upc_phaseof(p + 2), 2);
    CHECK_EQ(upc_threadof(p + 2), 0);
    CHECK_EQ(upc_threadof(p + 3), 1 % THREADS);
    CHECK_EQ(upc_phaseof(p + 3), 0);
    return check_failures;
}
