// The conditional operator with pointers to shared: with a null pointer constant, with the generic pointer (C99 6.5.15).
#include "check.h"

shared [2] int a[2 * THREADS];
shared int x;

int main(void)
{
    shared [2] int *p = MYTHREAD >= 0 ? a : 0;
    shared [2] int *q = MYTHREAD < 0 ? a : NULL;
    shared void *v = MYTHREAD >= 0 ? (shared void *)&x : a;
    CHECK(p == a && q == NULL && v == &x);
    CHECK((MYTHREAD >= 0 ? &a[1] : a) - a == 1);
    CHECK((p ? p : q) == a);
    return check_failures;
}
