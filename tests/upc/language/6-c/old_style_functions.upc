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

// A parameter without a declaration is an int; declarations are in any order.
static int difference(x, p, y)
shared int *p;
{
    return x - *p - y;
}

static int product(x, y)
{
    return x * y;
}

int main()
{
    a[MYTHREAD] = add(MYTHREAD, 4);
    upc_barrier;
    CHECK_EQ(at(a, THREADS - 1, 2.0), 2 * (THREADS + 3));
    CHECK_EQ(difference(THREADS + 10, &a[THREADS - 1], product(2, 3)), 1);
    return check_failures;
}
