// Two layouts are the same when their values are, however they are written (6.5.1.1).
#include "check.h"

shared [6] int a[6 * THREADS];
shared [1] int b[THREADS];
shared [0] int c[2];

int main(void)
{
    shared [2 * 3] int *p = a;
    shared int *q = b;
    shared [] int *r = c;
    CHECK(p == a && q == b && r == c);
    return check_failures;
}
