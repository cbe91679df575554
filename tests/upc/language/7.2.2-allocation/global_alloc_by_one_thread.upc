// upc_global_alloc by a single thread; the others take part by no call (7.2.2).
#include <upc.h>
#include "check.h"

shared [3] double *shared area;

int main(void)
{
    if (MYTHREAD == THREADS - 1)
        area = upc_global_alloc(2 * THREADS, 3 * sizeof(double));
    upc_barrier;
    shared [3] double *p = area;
    upc_forall (int i = 0; i < 6 * THREADS; i++; &p[i])
        p[i] = i / 4.0;
    upc_barrier;
    for (int i = 0; i < 6 * THREADS; i++)
        CHECK(p[i] == i / 4.0);
    upc_barrier;
    if (MYTHREAD == 0)
        upc_free(p);
    return check_failures;
}
