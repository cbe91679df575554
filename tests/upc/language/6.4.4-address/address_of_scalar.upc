// & of a shared object that is not an array: affinity to thread 0 (6.4.4, 6.5.2).
#include <upc.h>
#include "check.h"

shared int x;
shared double y;

int main(void)
{
    shared int *p = &x;
    shared double *q = &y;
    CHECK_EQ(upc_threadof(p), 0);
    CHECK_EQ(upc_threadof(q), 0);
    if (MYTHREAD == THREADS - 1) {
        *p = 17;
        *q = 1.5;
    }
    upc_barrier;
    CHECK_EQ(x, 17);
    CHECK(y == 1.5);
    return check_failures;
}
