// upc_alloc: memory with affinity to the calling thread, of indefinite block size; not collective (7.2.2).
#include <upc.h>
#include "check.h"

shared [] int *shared all[THREADS];

int main(void)
{
    for (int i = 0; i <= MYTHREAD; i++) {
        shared [] int *p = upc_alloc(5 * sizeof(int));
        CHECK(p != NULL);
        CHECK_EQ(upc_threadof(p), MYTHREAD);
        CHECK_EQ(upc_threadof(p + 4), MYTHREAD);
        CHECK_EQ(upc_phaseof(p), 0);
        for (int k = 0; k < 5; k++)
            p[k] = 100 * MYTHREAD + k;
        if (i < MYTHREAD)
            upc_free(p);
        else
            all[MYTHREAD] = p;
    }
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        for (int k = 0; k < 5; k++)
            CHECK_EQ(all[t][k], 100 * t + k);
    upc_barrier;
    upc_free(all[(MYTHREAD + 1) % THREADS]);
    return check_failures;
}
