// A barrier without expression matches any (6.6.1).
#include "check.h"

shared int a[THREADS];

int main(void)
{
    a[MYTHREAD] = 1;
    if (MYTHREAD % 2)
        upc_barrier 4;
    else
        upc_barrier;
    CHECK_EQ(a[(MYTHREAD + 1) % THREADS], 1);
    upc_notify 7;
    upc_wait;
    upc_notify;
    upc_wait 8;
    if (MYTHREAD == 0)
        upc_barrier 9;
    else
        upc_barrier;
    return check_failures;
}
