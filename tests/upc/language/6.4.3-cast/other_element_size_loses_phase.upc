// A cast to an element type of another size gives phase 0 (6.4.3).
#include <upc.h>
#include "check.h"

shared [4] int a[8 * THREADS];

int main(void)
{
    shared [4] char *p = (shared [4] char *)&a[3];
    CHECK_EQ(upc_phaseof(p), 0);
    CHECK_EQ(upc_threadof(p), 0);
    CHECK_EQ(upc_addrfield(p), upc_addrfield(&a[3]));
    return check_failures;
}
