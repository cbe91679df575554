// UPC_MAX_BLOCK_SIZE is an integer constant of at least 65535 (6.3.3).
#include "check.h"

static int is_constant[UPC_MAX_BLOCK_SIZE >= 65535 ? 1 : -1];

int main(void)
{
    is_constant[0] = 1;
    CHECK(UPC_MAX_BLOCK_SIZE >= 65535);
    CHECK_EQ(is_constant[0], 1);
    return check_failures;
}
