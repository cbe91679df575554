// A pointer of indefinite block size stays with its thread, its phase is 0 (6.4.2).
#include <upc.h>
#include "check.h"

shared [] int a[20];

int main(void)
{
    shared [] int *p = &a[0];
    for (int i = 0; i < 20; i++, ++p) {
        CHECK_EQ(upc_threadof(p), 0);
        CHECK_EQ(upc_phaseof(p), 0);
        CHECK_EQ(p - &a[0], i);
    }
    return check_failures;
}
