// Reads of large structures do not each keep a place on the stack.
#include "check.h"

struct large { char c[4096]; };
shared struct large a[4 * THREADS];

static long first(struct large z) { return z.c[0]; }

__attribute__((optimize("O2"), noinline)) static long walk(int depth)
{
    long sum = 0;
    if (depth == 0)
        return 0;
    sum += first(a[0]); sum += first(a[1]); sum += first(a[2]); sum += first(a[3]);
    sum += first(a[0]); sum += first(a[1]); sum += first(a[2]); sum += first(a[3]);
    return sum + walk(depth - 1) + 1;
}

int main(void)
{
    static struct large mine;
    mine.c[0] = 1;
    if (MYTHREAD == 0)
        for (int i = 0; i < 4; i++)
            a[i] = mine;
    upc_barrier;
    CHECK_EQ(walk(400), 3600);
    return check_failures;
}
