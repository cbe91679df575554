// upc_all_scatter: the i-th block of one thread's memory to thread i (7.3.1.2). The destination's blocks are as large as nbytes.
#include <upc_collective.h>
#include "check.h"

shared [4] int destination[4 * THREADS];

int main(void)
{
    shared [] int *source = NULL;
    static shared [] int *shared common;
    if (MYTHREAD == 0) {
        common = upc_alloc(4 * THREADS * sizeof(int));
        for (int i = 0; i < 4 * THREADS; i++)
            common[i] = 7 * i;
    }
    upc_barrier;
    source = common;
    upc_all_scatter(destination, source, 4 * sizeof(int), UPC_IN_NOSYNC | UPC_OUT_MYSYNC);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(destination[4 * MYTHREAD + i], 7 * (4 * MYTHREAD + i));
    return check_failures;
}
