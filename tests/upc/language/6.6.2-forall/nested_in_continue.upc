// A upc_forall within one of affinity `continue` controls by itself (6.6.2).
#include "check.h"

shared int m[3][4 * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 3; i++; continue)
        upc_forall (int j = 0; j < 4 * THREADS; j++; j)
            m[i][j] += 10 * MYTHREAD + 1;
    upc_barrier;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4 * THREADS; j++)
            CHECK_EQ(m[i][j], 10 * (j % THREADS) + 1);
    return check_failures;
}
