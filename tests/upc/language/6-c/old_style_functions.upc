// Function definitions with identifier lists (C99 6.9.1).
#include "check.h"

shared int a[THREADS];

static int add(x, y)
int x, y;
{
    return x + y;
}

static int at(p, index, scale)
shared int *p;
int index;
double scale;
{
    return (int)(p[index] * scale);
}

int main()
{
    a[MYTHREAD] = add(MYTHREAD, 4);
    upc_barrier;
    CHECK_EQ(at(a, THREADS - 1, 2.0), 2 * (THREADS + 3));
    return check_failures;
}
