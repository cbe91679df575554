// Recursive functions over shared data.
#include "check.h"

shared [4] int a[4 * THREADS];

static long sum(shared [4] int *p, int count)
{
    return count == 0 ? 0 : count == 1 ? *p : sum(p, count / 2) + sum(p + count / 2, count - count / 2);
}

static int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }

int main(void)
{
    upc_forall (int i = 0; i < 4 * THREADS; i++; &a[i])
        a[i] = i * i;
    upc_barrier;
    long n = 4 * THREADS;
    CHECK_EQ(sum(a, n), (n - 1) * n * (2 * n - 1) / 6);
    CHECK_EQ(ackermann(2, 3), 9);
    return check_failures;
}
