// The usual arithmetic conversions apply to the values of shared objects (C99 6.3.1.8).
#include "check.h"

shared unsigned char uc[THREADS];
shared signed char sc[THREADS];
shared unsigned u[THREADS];
shared long l[THREADS];
shared float f[THREADS];
shared struct { unsigned three : 3; int four : 4; } bits[THREADS];

int main(void)
{
    int t = (MYTHREAD + 1) % THREADS;
    uc[t] = 250;
    sc[t] = -6;
    u[t] = 5;
    l[t] = -7;
    f[t] = 0.5f;
    bits[t].three = 7;
    bits[t].four = -8;
    CHECK_EQ(uc[t] + uc[t], 500);
    CHECK_EQ(uc[t] << 4, 4000);
    CHECK_EQ(~uc[t], -251);
    CHECK_EQ(-uc[t], -250);
    CHECK(sc[t] + u[t] > 1000);
    CHECK(l[t] < u[t]);
    CHECK(sc[t] < uc[t]);
    CHECK_EQ(sizeof(uc[t] + 'a'), sizeof(int));
    CHECK_EQ(sizeof(f[t] + uc[t]), sizeof(float));
    CHECK_EQ(sizeof(l[t] * f[t]), sizeof(float));
    CHECK_EQ(sizeof(+sc[t]), sizeof(int));
    CHECK_EQ(bits[t].three - 8, -1);
    CHECK_EQ(bits[t].four + bits[t].three, -1);
    CHECK(f[t] * 3 == 1.5);
    CHECK_EQ(l[t] / 2, -3);
    CHECK_EQ(l[t] % 4, -3);
    CHECK_EQ(u[t] - 6 > 0, 1);
    CHECK(MYTHREAD < 0 ? 1 : f[t] ? l[t] == -7 : 0);
    CHECK_EQ(sizeof(MYTHREAD < 0 ? l[t] : uc[t]), sizeof(long));
    return check_failures;
}
