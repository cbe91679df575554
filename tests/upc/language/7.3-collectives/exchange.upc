// upc_all_exchange: thread i's j-th block to thread j's i-th (7.3.1.5).
#include <upc_collective.h>
#include "check.h"

int main(void)
{
    shared int *from = upc_all_alloc(THREADS, 3 * THREADS * sizeof(int));
    shared int *to = upc_all_alloc(THREADS, 3 * THREADS * sizeof(int));
    int *mine = (int *)&from[MYTHREAD];
    for (int i = 0; i < 3 * THREADS; i++)
        mine[i] = 100 * MYTHREAD + i;
    upc_all_exchange(to, from, 3 * sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    int *got = (int *)&to[MYTHREAD];
    for (int t = 0; t < THREADS; t++)
        for (int k = 0; k < 3; k++)
            CHECK_EQ(got[3 * t + k], 100 * t + 3 * MYTHREAD + k);
    upc_all_free(from);
    upc_all_free(to);
    return check_failures;
}
