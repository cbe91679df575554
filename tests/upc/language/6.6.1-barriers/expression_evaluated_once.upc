// The expression of a barrier statement is evaluated once, its side effects before the barrier (6.6.1).
#include "check.h"

shared int a[THREADS];

int main(void)
{
    int n = 0;
    upc_barrier n++;
    CHECK_EQ(n, 1);
    upc_notify ++n;
    upc_wait n;
    CHECK_EQ(n, 2);
    upc_barrier (a[MYTHREAD] = 5);
    CHECK_EQ(a[(MYTHREAD + 1) % THREADS], 5);
    upc_barrier a[THREADS - 1 - MYTHREAD];
    return check_failures;
}
