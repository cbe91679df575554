// A block may end within a row: the elements of one row then lie with several threads (6.5.2.1).
#include <upc.h>
#include "check.h"

shared [2] int m[2 * THREADS][5];

int main(void)
{
    if (MYTHREAD == 0)
        for (int i = 0; i < 2 * THREADS; i++)
            for (int j = 0; j < 5; j++)
                m[i][j] = 100 * i + j;
    upc_barrier;
    shared [2] int *flat = &m[0][0];
    for (int k = 0; k < 10 * THREADS; k++) {
        CHECK_EQ(flat[k], 100 * (k / 5) + k % 5);
        CHECK_EQ(upc_threadof(&flat[k]), k / 2 % THREADS);
        CHECK(&m[k / 5][k % 5] == flat + k);
    }
    return check_failures;
}
