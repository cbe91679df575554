// restrict on pointers to shared.
#include "check.h"

shared int a[THREADS], b[THREADS];

static void copy(shared int *restrict to, shared const int *restrict from)
{
    to[MYTHREAD] = from[MYTHREAD];
}

int main(void)
{
    a[MYTHREAD] = 3 * MYTHREAD;
    copy(b, a);
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(b[t], 3 * t);
    return check_failures;
}
