// upc_all_alloc: collective, every thread gets the same pointer to nblocks blocks of nbytes, dealt to the threads in turn (7.2.2).
#include <upc.h>
#include "check.h"

shared [4] int *shared said[THREADS];

int main(void)
{
    shared [4] int *p = upc_all_alloc(3 * THREADS, 4 * sizeof(int));
    said[MYTHREAD] = p;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK(said[t] == p);
    CHECK_EQ(upc_phaseof(p), 0);
    for (int i = 0; i < 12 * THREADS; i++)
        CHECK_EQ(upc_threadof(p + i), i / 4 % THREADS);
    upc_forall (int i = 0; i < 12 * THREADS; i++; p + i)
        p[i] = 5 * i;
    upc_barrier;
    for (int i = 0; i < 12 * THREADS; i++)
        CHECK_EQ(p[i], 5 * i);
    upc_barrier;
    if (MYTHREAD == THREADS - 1)
        upc_free(p);
    return check_failures;
}
