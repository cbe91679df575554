// A pointer to shared of block size 1 visits the threads in turn (6.4.2).
#include <upc.h>
#include "check.h"

shared int a[4 * THREADS];

int main(void)
{
    shared int *p = a;
    for (int i = 0; i < 4 * THREADS; i++, p++) {
        CHECK(p == &a[i]);
        CHECK_EQ(upc_threadof(p), i % THREADS);
        CHECK_EQ(upc_phaseof(p), 0);
    }
    return check_failures;
}
