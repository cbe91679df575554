// The conditional operator with pointers to shared: with a null pointer constant, with the generic pointer (C99 6.5.15).
#include "check.h"

shared [2] int a[2 * THREADS];
shared int x;

static struct one { int i; } one = {5};

// Of private pointers, too, a null pointer constant gives way, and void * does not.
static int member(int which)
{
    return (which == 0 ? &one : (void *)0)->i + (which == 1 ? (void *)0 : &one)->i;
}

int main(void)
{
    shared [2] int *p = MYTHREAD >= 0 ? a : 0;
    shared [2] int *q = MYTHREAD < 0 ? a : NULL;
    shared void *v = MYTHREAD >= 0 ? (shared void *)&x : a;
    CHECK(p == a && q == NULL && v == &x);
    CHECK((MYTHREAD >= 0 ? &a[1] : a) - a == 1);
    CHECK((p ? p : q) == a);
    CHECK_EQ(member(0), 10);
    return check_failures;
}
