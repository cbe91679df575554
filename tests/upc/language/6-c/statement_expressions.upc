// GNU statement expressions with shared accesses inside, and around.
#include "check.h"

shared int a[2 * THREADS];

#define MAX(x, y) ({ __typeof__(x) x_ = (x); __typeof__(y) y_ = (y); x_ > y_ ? x_ : y_; })

int main(void)
{
    int peer = (MYTHREAD + 1) % THREADS;
    a[peer] = ({ int t = 0; for (int i = 0; i < 4; i++) t += i; t; });
    CHECK_EQ(a[peer], 6);
    a[peer + THREADS] = 9;
    CHECK_EQ(MAX(a[peer], a[peer + THREADS]), 9);
    CHECK_EQ(({ a[peer]++; a[peer]; }), 7);
    CHECK_EQ(({ shared int *p = &a[peer]; *p += 3; *p; }), 10);
    return check_failures;
}
