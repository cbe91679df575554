// A generic pointer-to-shared becomes one of block size 1 or of indefinite block size with phase 0 (6.4.3).
#include <upc.h>
#include "check.h"

shared [3] int a[6 * THREADS];

int main(void)
{
    shared void *generic = &a[2];
    CHECK_EQ(upc_phaseof(generic), 2);
    shared [] int *indefinite = generic;
    shared int *cyclic = generic;
    CHECK_EQ(upc_phaseof(indefinite), 0);
    CHECK_EQ(upc_phaseof(cyclic), 0);
    CHECK(indefinite == generic && cyclic == generic);
    return check_failures;
}
