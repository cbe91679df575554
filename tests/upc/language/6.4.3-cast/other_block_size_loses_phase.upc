// A cast between pointers of different block sizes gives phase 0; thread and address stay (6.4.3).
#include <upc.h>
#include "check.h"

shared [5] int a[10 * THREADS];

int main(void)
{
    for (int i = 0; i < 10 * THREADS; i++) {
        shared [4] int *p = (shared [4] int *)&a[i];
        CHECK_EQ(upc_phaseof(p), 0);
        CHECK_EQ(upc_threadof(p), i / 5 % THREADS);
        CHECK_EQ(upc_addrfield(p), upc_addrfield(&a[i]));
        shared int *q = (shared int *)&a[i];
        CHECK_EQ(upc_phaseof(q), 0);
        CHECK_EQ(upc_threadof(q), i / 5 % THREADS);
    }
    return check_failures;
}
