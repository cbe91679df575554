// sizeof of a shared object is that of the object wherever C takes a constant: widths, designators, cases, alignments, parameters.
#include "check.h"

shared int one;
shared struct { short v[3]; } s;
shared [3] int a[3 * THREADS];

struct fields {
    unsigned wide : sizeof(one);
    unsigned narrow : upc_blocksizeof(a);
    _Static_assert(sizeof s == 6, "of the object");
};
static int placed[8] = {[sizeof(one)] = 5, [sizeof s.v ... sizeof s + 1] = 7};
struct holder { shared int *p; int n; };
struct holder holders[] = {[sizeof(one)] = {&one, 4}};
static _Alignas(sizeof(one) * 16) char more[3];
struct aligned { char first; _Alignas(sizeof(one)) char second; };

static int cases(int n)
{
    switch (n) {
    case sizeof(one) ... sizeof s - 1:
        return 1;
    case sizeof s:
        return 2;
    }
    return 0;
}

static int parameters(int v[upc_blocksizeof(a)], int w[one], int u[static sizeof(one)], int z[][upc_blocksizeof(a)])
{
    return v[0] + w[0] + u[0] + (int)(sizeof z[0] / sizeof z[0][0]);
}

int main(void)
{
    struct fields f = {15, 7};
    int local[5] = {[sizeof(one)] = 9}, rows[1][3] = {{0}};
    CHECK_EQ(f.wide, 15);
    f.wide++;
    f.narrow++;
    CHECK_EQ(f.wide + f.narrow, 0);
    CHECK_EQ(placed[4], 5);
    CHECK_EQ(placed[6] + placed[7], 14);
    CHECK_EQ(local[4], 9);
    CHECK_EQ(sizeof holders / sizeof holders[0], 5);
    CHECK(holders[4].p == &one && holders[0].p == NULL);
    CHECK_EQ((unsigned long)more % 64, 0);
    _Alignas(sizeof(one) * 4) char own;
    CHECK_EQ(_Alignof(more), 64);
    CHECK_EQ(_Alignof(own), 16);
    CHECK_EQ(sizeof(struct aligned), 8);
    CHECK_EQ(cases(4) + cases(5), 2);
    CHECK_EQ(cases(6), 2);
    CHECK_EQ(parameters(local, placed, local, rows), 3);
    return check_failures;
}
