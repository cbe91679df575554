// The block size is a constant integer expression: enumeration constants, macros, sizeof, conditionals (6.5.1.1).
#include "check.h"

enum { THREE = 3 };
#define DOUBLED(x) ((x) * 2)

shared [THREE] int a[THREE * THREADS];
shared [DOUBLED(4)] int b[8 * THREADS];
shared [sizeof(short)] int c[sizeof(short) * THREADS];
shared [1 ? 5 : 6] int d[5 * THREADS];
shared [(1 << 4) - 'A' + 60] int e[11 * THREADS];

int main(void)
{
    CHECK_EQ(upc_blocksizeof(a), 3);
    CHECK_EQ(upc_blocksizeof(b), 8);
    CHECK_EQ(upc_blocksizeof(c), sizeof(short));
    CHECK_EQ(upc_blocksizeof(d), 5);
    CHECK_EQ(upc_blocksizeof(e), 11);
    return check_failures;
}
