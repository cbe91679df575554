// Every way to read and write through strict types: compound assignment, ++, structures, members, bit-fields.
#include "check.h"

struct record { int a; unsigned low : 5, high : 7; double d; };
strict shared struct record r[THREADS];
strict shared int n[THREADS];

int main(void)
{
    int peer = (MYTHREAD + 1) % THREADS;
    struct record wanted = {3, 17, 99, 2.5};
    r[peer] = wanted;
    CHECK_EQ(r[peer].low, 17);
    r[peer].high -= 9;
    r[peer].a *= 5;
    r[peer].d += 0.25;
    struct record found = r[peer];
    CHECK(found.a == 15 && found.low == 17 && found.high == 90 && found.d == 2.75);
    n[peer] = 4;
    CHECK_EQ(n[peer]++, 4);
    CHECK_EQ(--n[peer], 4);
    CHECK_EQ(n[peer] <<= 3, 32);
    return check_failures;
}
