// Bit-fields of shared structures: reads, writes, compound assignment; neighbours stay (C99 6.7.2.1).
#include "check.h"

struct flags {
    unsigned low : 3;
    int middle : 6;
    unsigned long wide : 33;
    _Bool flag : 1;
    unsigned : 0;
    unsigned last : 9;
    char plain;
};
shared struct flags a[THREADS];

int main(void)
{
    int t = (MYTHREAD + 1) % THREADS, big = 29;
    a[t] = (struct flags){5, -9, 0x1abcdef01ul, 1, 300, 'p'};
    CHECK_EQ(a[t].low, 5);
    CHECK_EQ(a[t].middle, -9);
    CHECK_EQ(a[t].wide, 0x1abcdef01);
    a[t].low = big;
    CHECK_EQ(a[t].low, big % 8);
    a[t].middle -= 20;
    CHECK_EQ(a[t].middle, -29);
    CHECK_EQ(a[t].middle++, -29);
    a[t].wide >>= 4;
    a[t].flag = !a[t].flag;
    a[t].last |= 3;
    CHECK(a[t].low == 5 && a[t].middle == -28 && a[t].wide == 0x1abcdef0 && !a[t].flag && a[t].last == 303 && a[t].plain == 'p');
    shared [] struct flags *p = (shared [] struct flags *)&a[t];
    CHECK_EQ((p->low = big + 2), 7);
    CHECK_EQ(++p->low, 0);
    return check_failures;
}
