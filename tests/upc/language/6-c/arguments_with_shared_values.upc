// Shared values as arguments: conversions to parameter types, several in one call, calls within calls.
#include "check.h"

shared double d[THREADS];
shared char c[THREADS];
shared struct { short s[2]; } r[THREADS];

static double mixed(int a, float b, long double e, unsigned char f) { return a + b + (double)e + f; }
static int inner(int x) { return x * 2; }

int main(void)
{
    int t = (MYTHREAD + 1) % THREADS;
    d[t] = 2.75;
    c[t] = -1;
    r[t].s[0] = 100;
    r[t].s[1] = -3;
    CHECK(mixed(d[t], d[t], d[t], c[t]) == 2 + 2.75 + 2.75 + 255);
    CHECK_EQ(inner(inner(r[t].s[1]) + r[t].s[0]), 188);
    CHECK(mixed(c[t], r[t].s[0], inner(d[t]), inner(c[t] + 1)) == -1 + 100 + 4 + 0);
    return check_failures;
}
