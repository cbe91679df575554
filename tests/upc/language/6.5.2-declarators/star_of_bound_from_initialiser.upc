// [*] of an array whose bound comes from its initialiser: blocks of ceil(n / THREADS) (6.5.1.1, C99 6.7.8).
// environment: static
#include <upc.h>
#include "check.h"

extern shared [*] int declared[5];
shared [*] int declared[] = {1, 2, 3, 4, 5};
shared [*] int seven[] = {[6] = 7};
shared [*] int rows[][3] = {{1, 2, 3}, {4}};
shared [*] const char greeting[] = "good day";

int main(void)
{
    static shared [*] int inside[] = {3, 1, 4, 1};
    int block = (7 + THREADS - 1) / THREADS;
    CHECK_EQ(sizeof seven / sizeof seven[0], 7);
    CHECK_EQ(upc_blocksizeof(seven), block);
    for (int i = 0; i < 7; i++) {
        CHECK_EQ(upc_threadof(&seven[i]), i / block);
        CHECK_EQ(seven[i], i == 6 ? 7 : 0);
    }
    CHECK_EQ(upc_blocksizeof(declared), (5 + THREADS - 1) / THREADS);
    CHECK_EQ(declared[4], 5);
    CHECK_EQ(sizeof rows, 6 * sizeof(int));
    CHECK_EQ(upc_blocksizeof(rows), (6 + THREADS - 1) / THREADS);
    CHECK_EQ(rows[1][0], 4);
    CHECK_EQ(upc_blocksizeof(greeting), (9 + THREADS - 1) / THREADS);
    CHECK_EQ(greeting[8], 0);
    CHECK_EQ(greeting[7], 'y');
    CHECK_EQ(upc_blocksizeof(inside), (4 + THREADS - 1) / THREADS);
    CHECK_EQ(inside[2], 4);
    return check_failures;
}
