// upc_global_alloc: not collective, each calling thread gets memory of its own over all threads (7.2.2).
#include <upc.h>
#include "check.h"

shared int *shared areas[THREADS];

int main(void)
{
    areas[MYTHREAD] = upc_global_alloc(2 * THREADS, sizeof(int));
    CHECK_EQ(upc_threadof(areas[MYTHREAD]), 0);
    for (int i = 0; i < 2 * THREADS; i++) {
        CHECK_EQ(upc_threadof(areas[MYTHREAD] + i), i % THREADS);
        areas[MYTHREAD][i] = 1000 * MYTHREAD + i;
    }
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < 2 * THREADS; i++)
            CHECK_EQ(areas[t][i], 1000 * t + i);
    upc_barrier;
    upc_free(areas[MYTHREAD]);
    return check_failures;
}
