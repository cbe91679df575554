// THREADS may stand in any one dimension (6.5.2.1).
#include <upc.h>
#include "check.h"

shared int inner[3][THREADS];
shared [2] int middle[3][2 * THREADS][2];

int main(void)
{
    for (int i = 0; i < 3; i++)
        for (int t = 0; t < THREADS; t++)
            CHECK_EQ(upc_threadof(&inner[i][t]), t);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2 * THREADS; j++)
            middle[i][j][1] = upc_threadof(&middle[i][j][0]);
    upc_barrier;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2 * THREADS; j++)
            CHECK_EQ(middle[i][j][1], j % THREADS);
    return check_failures;
}
