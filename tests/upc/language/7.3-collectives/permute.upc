// upc_all_permute: thread i's block to thread perm[i] (7.3.1.6).
#include <upc_collective.h>
#include "check.h"

shared int permutation[THREADS];
shared [4] int from[4 * THREADS], to[4 * THREADS];

int main(void)
{
    permutation[MYTHREAD] = (MYTHREAD + 1) % THREADS;
    for (int i = 0; i < 4; i++)
        from[4 * MYTHREAD + i] = 10 * MYTHREAD + i;
    upc_all_permute(to, from, permutation, 4 * sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    int source = (MYTHREAD + THREADS - 1) % THREADS;
    for (int i = 0; i < 4; i++)
        CHECK_EQ(to[4 * MYTHREAD + i], 10 * source + i);
    return check_failures;
}
