// upc_phaseof: the place within the block (7.2.3).
#include <upc.h>
#include "check.h"

shared [3] double a[9 * THREADS];
shared int cyclic[4 * THREADS];
shared [] int indefinite[5];

int main(void)
{
    for (int i = 0; i < 9 * THREADS; i++)
        CHECK_EQ(upc_phaseof(&a[i]), i % 3);
    for (int i = 0; i < 4 * THREADS; i++)
        CHECK_EQ(upc_phaseof(&cyclic[i]), 0);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(upc_phaseof(&indefinite[i]), 0);
    CHECK(_Generic(upc_phaseof(a), size_t: 1, default: 0));
    return check_failures;
}
