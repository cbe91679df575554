// Blocks of many elements, steps of many blocks.
#include <upc.h>
#include "check.h"

shared [1000] char a[3000 * THREADS];

int main(void)
{
    for (int i = 0; i < 3000 * THREADS; i += 333) {
        shared [1000] char *p = a + i;
        CHECK_EQ(upc_threadof(p), i / 1000 % THREADS);
        CHECK_EQ(upc_phaseof(p), i % 1000);
        CHECK_EQ(p - a, i);
        CHECK(p - i == a);
    }
    return check_failures;
}
