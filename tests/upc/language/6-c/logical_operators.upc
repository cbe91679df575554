// && and || with shared operands stop as soon as the result is known (C99 6.5.13).
#include "check.h"

shared int zero, one = 1;
shared double half = 0.5;
static int calls;

static int yes(void) { calls++; return 1; }

int main(void)
{
    CHECK(!(zero && yes()));
    CHECK(one || yes());
    CHECK_EQ(calls, 0);
    CHECK(one && yes() && half);
    CHECK(zero || yes() || zero);
    CHECK_EQ(calls, 2);
    CHECK_EQ(!half, 0);
    CHECK_EQ(!zero + !!one, 2);
    CHECK_EQ(half && one, 1);
    return check_failures;
}
