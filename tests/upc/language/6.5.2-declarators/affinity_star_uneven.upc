// [*] of a number of elements that THREADS does not divide: blocks of ceil(n / THREADS) (6.5.1.1).
// environment: static
#include <upc.h>
#include "check.h"

shared [*] int a[11];

int main(void)
{
    int block = (11 + THREADS - 1) / THREADS;
    CHECK_EQ(upc_blocksizeof(a), block);
    for (int i = 0; i < 11; i++)
        CHECK_EQ(upc_threadof(&a[i]), i / block);
    return check_failures;
}
