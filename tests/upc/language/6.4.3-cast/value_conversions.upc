// The value of a shared object converts like any other, by casts and in assignments.
#include "check.h"

shared double d;
shared int i;
shared unsigned char c;
shared float f;

int main(void)
{
    if (MYTHREAD == 0) {
        d = 3.99;
        i = d;
        c = (int)d * 100;
        f = i + 0.25;
    }
    upc_barrier;
    CHECK_EQ((int)d, 3);
    CHECK_EQ(i, 3);
    CHECK_EQ(c, 44);
    CHECK(f == 3.25f);
    CHECK((double)i / 2 == 1.5);
    CHECK_EQ((unsigned char)-i, 253);
    CHECK((_Bool)d == 1);
    return check_failures;
}
