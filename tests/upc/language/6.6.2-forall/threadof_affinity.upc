// The affinity may be the value of upc_threadof, of type size_t (6.6.2, 7.2.3).
#include <upc.h>
#include "check.h"

shared [3] int a[6 * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 6 * THREADS; i++; upc_threadof(&a[i]))
        a[i] = MYTHREAD;
    upc_barrier;
    for (int i = 0; i < 6 * THREADS; i++)
        CHECK_EQ(a[i], i / 3 % THREADS);
    return check_failures;
}
