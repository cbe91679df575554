// The index may be of any integer type, signed or not.
#include "check.h"

shared [3] int a[6 * THREADS];

int main(void)
{
    char c = 5;
    unsigned char uc = 5;
    short s = 5;
    unsigned short us = 5;
    long l = 5;
    unsigned long ul = 5;
    long long ll = -5;
    unsigned u = 5;
    _Bool b = 1;
    enum { FIVE = 5 } e = FIVE;
    shared [3] int *p = a, *five = &a[5];
    CHECK(p + c == five && p + uc == five && p + s == five && p + us == five && p + l == five);
    CHECK(p + ul == five && p + u == five && p + e == five && p + 'A' - 60 == five);
    CHECK(five + ll == p && five - c == p && five - uc == p && five - ul == p);
    CHECK(&p[b] == &a[1]);
    return check_failures;
}
