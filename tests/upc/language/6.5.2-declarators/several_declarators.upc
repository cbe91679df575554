// Several declarators with one list of qualifiers: the layout goes with each.
#include <upc.h>
#include "check.h"

shared [2] int a[2 * THREADS], b[4 * THREADS], *p, x, m[THREADS][6];

int main(void)
{
    p = &b[3];
    CHECK_EQ(upc_blocksizeof(a), 2);
    CHECK_EQ(upc_blocksizeof(b), 2);
    CHECK_EQ(upc_blocksizeof(*p), 2);
    CHECK_EQ(upc_threadof(p), 1 % THREADS);
    CHECK_EQ(upc_threadof(&x), 0);
    CHECK_EQ(upc_threadof(&m[0][2]), 1 % THREADS);
    return check_failures;
}
