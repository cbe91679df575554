// The eight queens: the squares of the first two rows are divided over the threads, the solutions are counted together.
#include <upc_collective.h>
#include "check.h"

enum { N = 7 };
shared int found[THREADS];
shared int all;

static int solutions(int row, unsigned columns, unsigned left, unsigned right)
{
    if (row == N)
        return 1;
    int count = 0;
    for (int c = 0; c < N; c++) {
        unsigned bit = 1u << c;
        if (!((columns | left | right) & bit))
            count += solutions(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}

int main(void)
{
    upc_forall (int square = 0; square < N * N; square++; square) {
        unsigned first = 1u << square / N, second = 1u << square % N;
        if (!((first | first << 1 | first >> 1) & second))
            found[MYTHREAD] += solutions(2, first | second, (first << 1 | second) << 1, (first >> 1 | second) >> 1);
    }
    upc_all_reduceI(&all, found, UPC_ADD, THREADS, 1, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    CHECK_EQ(all, 40);
    return check_failures;
}
