// In a nested upc_forall the outermost one with an affinity controls; the inner one runs every iteration (6.6.2).
#include "check.h"

shared int m[3 * THREADS][4];

int main(void)
{
    upc_forall (int i = 0; i < 3 * THREADS; i++; i)
        upc_forall (int j = 0; j < 4; j++; j)
            m[i][j] += 10 * MYTHREAD + 1;
    upc_barrier;
    for (int i = 0; i < 3 * THREADS; i++)
        for (int j = 0; j < 4; j++)
            CHECK_EQ(m[i][j], 10 * (i % THREADS) + 1);
    return check_failures;
}
