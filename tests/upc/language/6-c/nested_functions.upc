// GNU C's nested functions see the variables around them.
#include "check.h"

shared int a[THREADS];

int main(void)
{
    int factor = 3;
    int scaled(int x) { return x * factor + MYTHREAD; }
    a[MYTHREAD] = scaled(5);
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(a[t], 15 + t);
    return check_failures;
}
