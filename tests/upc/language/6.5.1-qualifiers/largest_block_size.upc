// A block size of UPC_MAX_BLOCK_SIZE is allowed (6.3.3, 6.5.1.1).
#include <upc.h>
#include "check.h"

shared [UPC_MAX_BLOCK_SIZE] char *p;

int main(void)
{
    CHECK_EQ(upc_blocksizeof(*p), UPC_MAX_BLOCK_SIZE);
    CHECK(p == 0);
    return check_failures;
}
