// A cast to an element type of the same size and block size keeps the phase (6.4.3).
#include <upc.h>
#include "check.h"

shared [4] int a[8 * THREADS];

int main(void)
{
    for (int i = 0; i < 8 * THREADS; i++) {
        shared [4] unsigned *p = (shared [4] unsigned *)&a[i];
        CHECK_EQ(upc_phaseof(p), i % 4);
        CHECK((shared [4] int *)(p + 1) == &a[i] + 1);
    }
    return check_failures;
}
