// An integer affinity below zero is its mathematical remainder in loops over own elements as well (6.6.2).
#include "check.h"

shared int a[8 * THREADS];

static void clear(void)
{
    upc_barrier;
    for (int i = MYTHREAD; i < 8 * THREADS; i += THREADS)
        a[i] = 99;
    upc_barrier;
}

int main(void)
{
    int i, n = 4 * THREADS;
    shared int *middle = &a[n];
    clear();
    upc_forall (i = -n; i < n; i++; i)
        middle[i] = i;
    CHECK_EQ(i, n);
    upc_barrier;
    for (i = -n; i < n; i++)
        CHECK_EQ(middle[i], i);
    clear();
    upc_forall (i = -3; i < n; i += 3; i)
        middle[i] = i;
    upc_barrier;
    for (i = -n; i < n; i++)
        CHECK_EQ(middle[i], i >= -3 && (i + 3) % 3 == 0 ? i : 99);
    clear();
    upc_forall (i = -1; i < n; i++; i)
        if (i >= 0)
            a[i] = i;
    upc_barrier;
    for (i = 0; i < n; i++)
        CHECK_EQ(a[i], i);
    return check_failures;
}
