// A cast to the generic pointer-to-shared and back keeps the phase (6.4.3).
#include <upc.h>
#include "check.h"

shared [5] int a[10 * THREADS];

int main(void)
{
    for (int i = 0; i < 10 * THREADS; i++) {
        shared void *generic = &a[i];
        CHECK_EQ(upc_phaseof(generic), i % 5);
        shared [5] int *back = generic;
        CHECK_EQ(upc_phaseof(back), i % 5);
        CHECK(back == &a[i]);
        CHECK(back + 7 - 7 == &a[i]);
        CHECK_EQ(upc_phaseof((shared const void *)back), i % 5);
    }
    return check_failures;
}
