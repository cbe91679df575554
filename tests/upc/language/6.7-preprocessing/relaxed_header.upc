// upc_relaxed.h brings upc.h and relaxed as default (7.1).
#include <upc_relaxed.h>
#include "check.h"

shared int a[THREADS];

int main(void)
{
    a[MYTHREAD] = upc_threadof(&a[MYTHREAD]);
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(a[t], t);
    return check_failures;
}
