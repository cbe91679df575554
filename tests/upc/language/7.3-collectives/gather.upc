// upc_all_gather: thread i's block to the i-th block of one thread's memory (7.3.1.3).
#include <upc_collective.h>
#include "check.h"

shared [2] int source[2 * THREADS];
shared [] int *shared result;

int main(void)
{
    if (MYTHREAD == THREADS - 1)
        result = upc_alloc(2 * THREADS * sizeof(int));
    source[2 * MYTHREAD] = MYTHREAD;
    source[2 * MYTHREAD + 1] = -MYTHREAD;
    upc_barrier;
    upc_all_gather(result, source, 2 * sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    for (int t = 0; t < THREADS; t++) {
        CHECK_EQ(result[2 * t], t);
        CHECK_EQ(result[2 * t + 1], -t);
    }
    return check_failures;
}
