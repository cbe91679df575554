// & of an element of a shared array: its type has the array's block size, its value the element's thread and phase (6.4.4).
#include <upc.h>
#include "check.h"

shared [3] int a[6 * THREADS];

int main(void)
{
    for (int i = 0; i < 6 * THREADS; i++) {
        shared [3] int *p = &a[i];
        CHECK_EQ(upc_phaseof(p), i % 3);
        CHECK_EQ(upc_threadof(p), i / 3 % THREADS);
        CHECK_EQ(upc_blocksizeof(*&a[i]), 3);
    }
    return check_failures;
}
