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
shared struct { const unsigned fixed : 4; int free : 5; } mixed = {9, -3};
shared long total;
shared double sum;
shared int counts[4 * THREADS];
shared int *next = counts;

static struct flags *called(struct flags *f) { return f; }

// An operand of a compound assignment that has side effects, and no variable of its type.
static void operands(void)
{
    struct flags f[2] = {{6, -7, 0x100000001ul, 1, 300, 'p'}, {1, 2, 3, 0, 4, 'q'}};
    int i = 0;
    total += f[i++].low;
    CHECK_EQ(total, 6);
    total -= called(f)->middle;
    CHECK_EQ(total, 13);
    total += called(f)->wide;
    CHECK_EQ(total, 0x10000000e);
    total *= f[i--].low++;
    CHECK_EQ(total, 0x10000000e);
    CHECK_EQ(f[1].low + i, 2);
    total |= f[1].flag = 1;
    CHECK_EQ(total, 0x10000000f);
    total = 0;
    total += (i++, f[1].last);
    total += i ? f[--i].last : 0;
    CHECK_EQ(total, 304);
    a[0].last = 77;
    total += a[i++].last;
    CHECK_EQ(total, 381);
    sum += f[i].last = 8;
    CHECK(sum == 8);
    next += f[i--].middle;
    CHECK(next == &counts[2] && i == 0);
}

int main(void)
{
    CHECK_EQ(mixed.fixed, 9);
    CHECK_EQ(mixed.free, -3);
    if (MYTHREAD == 0)
        operands();
    upc_barrier;
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
