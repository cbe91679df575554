// __typeof__ of shared objects (the type of their value), of expressions and types (GNU C).
#include "check.h"

shared [2] double a[2 * THREADS];
shared int n;
shared typeof(n) *pn = &n;

int main(void)
{
    __typeof__(a[0] + 1) x = 2.5;
    __typeof__(&a[0]) p = a;
    __typeof__(int *) q = (int *)0;
    CHECK_EQ(sizeof x, sizeof(double));
    CHECK(p == &a[0] && q == 0 && pn == &n);
    if (MYTHREAD == 0)
        p[1] = x;
    upc_barrier;
    CHECK(a[1] == 2.5);
    int largest = ({ __typeof__(n) copy = n; copy > -1 ? copy : -1; });
    CHECK(largest == 0);
    __auto_type sum = a[1] + 1;
    CHECK(sum == 3.5);
    return check_failures;
}
