// strict and relaxed qualify shared objects; either order of the qualifiers (6.5.1.1).
#include "check.h"

strict shared int a;
shared strict int b;
relaxed shared int c;
shared [3] relaxed int d[3 * THREADS];
int shared strict e;
strict shared [2] double f[2 * THREADS];

int main(void)
{
    if (MYTHREAD == 0) {
        a = 1;
        b = a + 1;
        c = b + 1;
        d[3 * THREADS - 1] = c + 1;
        e = d[3 * THREADS - 1] + 1;
        f[2 * THREADS - 1] = e + 0.5;
    }
    upc_barrier;
    CHECK_EQ(a + 10 * b + 100 * c + 1000 * d[3 * THREADS - 1] + 10000 * e, 54321);
    CHECK(f[2 * THREADS - 1] == 5.5);
    return check_failures;
}
