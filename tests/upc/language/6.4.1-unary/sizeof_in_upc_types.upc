// Typedefs and nesting: sizeof of a typedef'd shared array counts every element once.
#include "check.h"

typedef shared [2] int pairs[2 * THREADS];
pairs one;
typedef struct { double re, im; } complex_number;
shared [] complex_number plane[3][4];

int main(void)
{
    CHECK_EQ(sizeof one, 2 * THREADS * sizeof(int));
    CHECK_EQ(upc_blocksizeof(one), 2);
    CHECK_EQ(sizeof plane, 12 * sizeof(complex_number));
    CHECK_EQ(sizeof plane[1], 4 * sizeof(complex_number));
    CHECK_EQ(upc_elemsizeof(plane), sizeof(complex_number));
    return check_failures;
}
