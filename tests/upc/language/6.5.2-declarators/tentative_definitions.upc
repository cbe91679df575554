// Several tentative definitions of one shared object are one object (C99 6.9.2).
#include "check.h"

shared int a[THREADS];
shared int n;
extern shared int a[THREADS];
shared int a[THREADS];
shared int n;

int main(void)
{
    a[MYTHREAD] = MYTHREAD + 1;
    upc_barrier;
    int sum = 0;
    for (int t = 0; t < THREADS; t++)
        sum += a[t];
    CHECK_EQ(sum, THREADS * (THREADS + 1) / 2);
    CHECK_EQ(n, 0);
    return check_failures;
}
