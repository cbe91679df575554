// _Static_assert in files and blocks, with the UPC operators (C11 6.7.10).
#include "check.h"

shared [4] int a[4 * THREADS];
_Static_assert(sizeof(int) == 4, "int");
_Static_assert(upc_blocksizeof(a) == 4, "block");
_Static_assert(upc_elemsizeof(a) == sizeof(int), "element");

int main(void)
{
    _Static_assert(UPC_MAX_BLOCK_SIZE > 1000, "large");
    CHECK_EQ(a[0], 0);
    return check_failures;
}
