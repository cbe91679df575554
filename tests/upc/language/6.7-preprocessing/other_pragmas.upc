// Pragmas of others are no concern of UPC's (C99 6.10.6).
#include "check.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-variable"
static int never_used = 3;
#pragma GCC diagnostic pop
#pragma pack(push, 1)
struct packed { char c; int i; };
#pragma pack(pop)
shared struct packed p[THREADS];
shared int a[4 * THREADS];

// What is said of a loop is left out where the loop becomes more than one of C.
static int loops(void)
{
    int i, sum = 0;
#pragma GCC ivdep
#pragma GCC unroll 2
    upc_forall (i = 0; i < 4 * THREADS; i++; &a[i])
        a[i] = i;
    if (i != 0)
#pragma GCC unroll 4
        upc_forall (i = 0; i < THREADS; i++; i)
            sum += a[i];
#pragma GCC ivdep
    for (i = 0; i < 4; i++)
        sum += i;
    return sum;
}

int main(void)
{
    CHECK_EQ(loops(), MYTHREAD + 6);
    p[MYTHREAD].i = 70000 + MYTHREAD;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(p[t].i, 70000 + t);
    CHECK_EQ(sizeof(struct packed), 5);
    return check_failures;
}
