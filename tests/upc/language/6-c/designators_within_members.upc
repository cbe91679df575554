// What follows a designator goes on behind it, out of the member that it is in; members of unnamed structures too (C11 6.7.9).
#include "check.h"

#pragma GCC diagnostic ignored "-Wmissing-braces"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

shared int x, y;
struct inner { int n; shared int *p; };
static struct { struct inner in; int after; shared int *q; } nested = {.in.n = 1, &x, 3, &y};
static struct inner list[3] = {[0].n = 4, &x, 5, &y, [2] = 6, &x};
static struct { struct { int a; shared int *b; }; union { int c; shared int *d; }; int e; } unnamed = {.a = 1, &x, .d = &y, 9};
shared struct { struct { int v, w; }; int z; } s = {.v = 1, 2, 3};
shared [] int rows[2][3] = {[0][1] = 1, 2, 3, [1][2] = 4};

int main(void)
{
    CHECK(nested.in.n == 1 && nested.in.p == &x && nested.after == 3 && nested.q == &y);
    CHECK(list[0].n == 4 && list[0].p == &x && list[1].n == 5 && list[1].p == &y);
    CHECK(list[2].n == 6 && list[2].p == &x);
    CHECK(unnamed.a == 1 && unnamed.b == &x && unnamed.d == &y && unnamed.e == 9);
    CHECK(s.v == 1 && s.w == 2 && s.z == 3);
    CHECK(rows[0][0] == 0 && rows[0][1] == 1 && rows[0][2] == 2 && rows[1][0] == 3 && rows[1][2] == 4);
    return check_failures;
}
