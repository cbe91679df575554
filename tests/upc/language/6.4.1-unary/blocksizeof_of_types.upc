// upc_blocksizeof of a type name; it is an integer constant (6.4.1.2).
#include "check.h"

typedef shared [6] int six;
static char table[upc_blocksizeof(shared [9] char)];

int main(void)
{
    CHECK_EQ(upc_blocksizeof(shared int), 1);
    CHECK_EQ(upc_blocksizeof(shared [4] int), 4);
    CHECK_EQ(upc_blocksizeof(shared [] int), 0);
    CHECK_EQ(upc_blocksizeof(six), 6);
    CHECK_EQ(upc_blocksizeof(shared [2 * 3 + 1] long[14 * THREADS]), 7);
    CHECK_EQ(sizeof table, 9);
    CHECK(_Generic(upc_blocksizeof(six), __typeof__(sizeof(int)): 1, default: 0));
    return check_failures;
}
