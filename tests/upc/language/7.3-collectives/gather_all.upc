// upc_all_gather_all: every thread's block to every thread (7.3.1.4).
#include <upc_collective.h>
#include "check.h"

shared [2] short source[2 * THREADS];

int main(void)
{
    shared short *everywhere = upc_all_alloc(THREADS, 2 * THREADS * sizeof(short));
    source[2 * MYTHREAD] = 5 * MYTHREAD;
    source[2 * MYTHREAD + 1] = 5 * MYTHREAD + 1;
    upc_all_gather_all(everywhere, source, 2 * sizeof(short), UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
    short *mine = (short *)&everywhere[MYTHREAD];
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK_EQ(mine[i], 5 * (i / 2) + i % 2);
    upc_barrier;
    upc_all_free(everywhere);
    return check_failures;
}
