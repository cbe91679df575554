// Of three loops the first with an affinity that is not `continue` controls (6.6.2).
#include "check.h"

shared int m[2][THREADS][3];

int main(void)
{
    upc_forall (int i = 0; i < 2; i++; continue) {
        upc_forall (int j = 0; j < THREADS; j++; j) {
            upc_forall (int k = 0; k < 3; k++; k + 1)
                m[i][j][k] += MYTHREAD + 1;
        }
    }
    upc_barrier;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < THREADS; j++)
            for (int k = 0; k < 3; k++)
                CHECK_EQ(m[i][j][k], j + 1);
    return check_failures;
}
