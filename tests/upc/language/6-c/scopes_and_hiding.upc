// Private names hide shared ones and the other way around, in blocks, parameters and loops (C99 6.2.1).
#include "check.h"

shared int x[THREADS];
int y = 3;

static int parameter(int x) { return x + 1; }
static int prototype_only(int x, shared int *y);
static int prototype_only(int a, shared int *b) { return a + *b; }

int main(void)
{
    x[MYTHREAD] = 10;
    upc_barrier;
    CHECK_EQ(parameter(4), 5);
    CHECK_EQ(prototype_only(1, &x[0]), 11);
    {
        int x = y;
        static shared int y;
        CHECK_EQ(x, 3);
        CHECK_EQ(y, 0);
        for (int y = 0; y < 2; y++)
            x += y;
        CHECK_EQ(x, 4);
    }
    CHECK_EQ(x[0], 10);
    struct x { int x; } z = {x[0]};
    CHECK_EQ(z.x, 10);
    return check_failures;
}
