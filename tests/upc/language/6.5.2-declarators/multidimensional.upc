// The block size of a multi-dimensional array counts its innermost elements (6.5.2.1).
#include <upc.h>
#include "check.h"

shared [4] int m[THREADS][2][4];

int main(void)
{
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 4; k++)
                CHECK_EQ(upc_threadof(&m[i][j][k]), (8 * i + 4 * j + k) / 4 % THREADS);
    upc_forall (int i = 0; i < 2 * THREADS; i++; &m[i / 2][i % 2][0])
        for (int k = 0; k < 4; k++)
            m[i / 2][i % 2][k] = 10 * i + k;
    upc_barrier;
    for (int i = 0; i < 2 * THREADS; i++)
        for (int k = 0; k < 4; k++)
            CHECK_EQ(m[i / 2][i % 2][k], 10 * i + k);
    return check_failures;
}
