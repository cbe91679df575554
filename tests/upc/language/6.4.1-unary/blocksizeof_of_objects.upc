// upc_blocksizeof: the block size the layout qualifier says; 0 where indefinite, 1 where there is none (6.4.1.2).
#include "check.h"

shared int plain[THREADS];
shared [1] int one[THREADS];
shared [5] int five[5 * THREADS];
shared [] int indefinite[10];
shared [0] int zero[10];
shared int scalar;

int main(void)
{
    CHECK_EQ(upc_blocksizeof(plain), 1);
    CHECK_EQ(upc_blocksizeof(one), 1);
    CHECK_EQ(upc_blocksizeof(five), 5);
    CHECK_EQ(upc_blocksizeof(indefinite), 0);
    CHECK_EQ(upc_blocksizeof(zero), 0);
    CHECK_EQ(upc_blocksizeof(scalar), 1);
    return check_failures;
}
