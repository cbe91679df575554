// An assignment has the value that was stored, converted to the type of its left side (C99 6.5.16).
#include "check.h"

shared unsigned char c[THREADS];
shared int i[THREADS];
shared double d[THREADS];
shared _Bool b[THREADS];
shared struct { unsigned f : 3; } s[THREADS];

int main(void)
{
    int t = (MYTHREAD + 1) % THREADS, wide = 1000;
    d[t] = i[t] = c[t] = wide;
    CHECK_EQ(c[t], 1000 % 256);
    CHECK_EQ(i[t], 1000 % 256);
    CHECK(d[t] == 1000 % 256);
    i[t] = d[t] = 2.75;
    CHECK_EQ(i[t], 2);
    i[t] = b[t] = 25;
    CHECK_EQ(i[t], 1);
    i[t] = s[t].f = wide;
    CHECK_EQ(i[t], 1000 % 8);
    CHECK_EQ((c[t] += 200) + 0, (1000 % 256 + 200) % 256);
    CHECK_EQ(c[t]--, (1000 % 256 + 200) % 256);
    return check_failures;
}
