// *&x is x, &*p is p, &a[i] is a + i (C99 6.5.3.2).
#include "check.h"

shared [2] int a[4 * THREADS];
shared int x;

int main(void)
{
    shared [2] int *p = a + 3;
    CHECK(&*p == p);
    CHECK(&a[3] == p);
    CHECK(&p[-3] == a);
    if (MYTHREAD == 0)
        *&x = 8;
    upc_barrier;
    CHECK_EQ(*&x, 8);
    CHECK_EQ(*&*&x, 8);
    return check_failures;
}
