// A pointer of block size B stays B elements with a thread, then goes on with the next; its phase counts within the block (6.4.2).
#include <upc.h>
#include "check.h"

shared [3] short a[9 * THREADS];

int main(void)
{
    shared [3] short *p = a;
    for (int i = 0; i < 9 * THREADS; i++, p++) {
        CHECK(p == &a[i]);
        CHECK_EQ(upc_threadof(p), i / 3 % THREADS);
        CHECK_EQ(upc_phaseof(p), i % 3);
    }
    return check_failures;
}
