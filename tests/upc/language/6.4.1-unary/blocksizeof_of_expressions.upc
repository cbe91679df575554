// upc_blocksizeof of an expression: the block size of its type; elements keep their array's (6.4.1.2).
#include "check.h"

shared [7] double a[7 * THREADS];
shared [3] int *p;
shared [] struct { int x; } *q;

int main(void)
{
    CHECK_EQ(upc_blocksizeof(a[0]), 7);
    CHECK_EQ(upc_blocksizeof *p, 3);
    CHECK_EQ(upc_blocksizeof(*p), 3);
    CHECK_EQ(upc_blocksizeof(p[100]), 3);
    CHECK_EQ(upc_blocksizeof(*q), 0);
    return check_failures;
}
