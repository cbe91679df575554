// Pointers to the same object are equal whatever their phases are (6.4.2).
#include <upc.h>
#include "check.h"

shared [4] int a[8 * THREADS];

int main(void)
{
    shared [4] int *p = &a[2];
    shared [] int *q = (shared [] int *)p;
    CHECK_EQ(upc_phaseof(p), 2);
    CHECK_EQ(upc_phaseof(q), 0);
    CHECK((shared void *)p == (shared void *)q);
    CHECK(p == (shared [4] int *)q);
    CHECK(!(p != (shared [4] int *)q));
    return check_failures;
}
