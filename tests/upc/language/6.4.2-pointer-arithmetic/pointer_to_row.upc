// A pointer to a shared array steps by whole rows; the block size counts the innermost elements (6.5.2.1, 6.4.2).
#include <upc.h>
#include "check.h"

shared [6] int m[4 * THREADS][3];

int main(void)
{
    shared [6] int (*row)[3] = m;
    for (int i = 0; i < 4 * THREADS; i++, row++)
        for (int j = 0; j < 3; j++) {
            CHECK(&(*row)[j] == &m[i][j]);
            CHECK_EQ(upc_threadof(&(*row)[j]), (3 * i + j) / 6 % THREADS);
            CHECK_EQ(upc_phaseof(&(*row)[j]), (3 * i + j) % 6);
        }
    CHECK_EQ(row - m, 4 * THREADS);
    return check_failures;
}
