// A bound that is not an integer: the last iteration is the one below it, whoever makes it (6.6.2).
#include "check.h"

shared int a[20 * THREADS];
static int turns, seen;

int main(void)
{
    int i, n = 9;
    upc_forall (i = 0; i < n / 2.0; i++; i)
        a[i] = 1;
    CHECK_EQ(i, 5);
    upc_forall (i = 5; i <= n + .5; i++; &a[i])
        a[i] = 2;
    CHECK_EQ(i, 10);
    upc_forall (i = 10; i < 1.25e1f; i += 2; &a[i])
        a[i] = 3;
    CHECK_EQ(i, 14);
    upc_barrier;
    for (i = 0; i < 14; i++)
        if (i < 20 * THREADS)
            CHECK_EQ(a[i], i < 5 ? 1 : i < 10 ? 2 : i % 2 == 0 && i < 13 ? 3 : 0);
    upc_forall (i = 0; i < n / 2.0; i++; i) {
        turns++;
        seen += i;
    }
    CHECK_EQ(i, 5);
    CHECK_EQ(turns, (5 + THREADS - 1 - MYTHREAD) / THREADS);
    upc_forall (i = -4; i <= -1.5; i++; i)
        ;
    CHECK_EQ(i, -1);
    upc_forall (i = 0; i < 1e1; i++; &a[i])
        ;
    CHECK_EQ(i, 10);
    return check_failures;
}
