// The comma and the conditional operator with shared operands: one side is evaluated, in order (C99 6.5.15, 6.5.17).
#include "check.h"

shared int a[THREADS], b[THREADS];
static int calls;

static int called(int value) { calls++; return value; }

int main(void)
{
    int peer = (MYTHREAD + 1) % THREADS;
    a[peer] = 1;
    b[peer] = 2;
    CHECK_EQ((a[peer] = 5, a[peer] + b[peer]), 7);
    CHECK_EQ(a[peer] == 5 ? called(b[peer]) : called(-1), 2);
    CHECK_EQ(calls, 1);
    CHECK_EQ((a[peer] > 9 ? a : b)[peer], 2);
    *(a[peer] ? &a[peer] : &b[peer]) = 11;
    CHECK_EQ(a[peer], 11);
    CHECK_EQ(a[peer] ?: called(3), 11);
    CHECK_EQ((b[peer] = 0) ?: called(4), 4);
    CHECK_EQ(calls, 2);
    int i = 0;
    for (i = 0, a[peer] = 0; i < 3; i++, a[peer] += 2)
        ;
    CHECK_EQ(a[peer], 6);
    return check_failures;
}
