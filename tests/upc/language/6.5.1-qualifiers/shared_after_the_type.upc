// The shared qualifier may stand before or after the type specifier (6.5.1.1).
#include <upc.h>
#include "check.h"

int shared a[THREADS];
int shared [2] b[2 * THREADS];
double const shared [] c[2] = {1.5, 2.5};
long shared int unsigned d;

int main(void)
{
    CHECK_EQ(upc_blocksizeof(a), 1);
    CHECK_EQ(upc_blocksizeof(b), 2);
    CHECK_EQ(upc_blocksizeof(c), 0);
    CHECK(c[1] == 2.5);
    CHECK_EQ(sizeof d, sizeof(long));
    return check_failures;
}
