// ++ and -- on pointers to shared: the post forms yield the old value, the pre forms the new (6.4.2).
#include "check.h"

shared [2] int a[4 * THREADS];

int main(void)
{
    if (MYTHREAD == THREADS - 1)
        for (int i = 0; i < 4 * THREADS; i++)
            a[i] = 10 * i;
    upc_barrier;
    shared [2] int *p = a;
    CHECK_EQ(*p++, 0);
    CHECK_EQ(*p, 10);
    CHECK_EQ(*++p, 20);
    CHECK_EQ(*p--, 20);
    CHECK_EQ(*--p, 0);
    CHECK(p == a);
    int sum = 0;
    while (p < a + 4 * THREADS)
        sum += *p++;
    CHECK_EQ(sum, 10 * (4 * THREADS) * (4 * THREADS - 1) / 2);
    return check_failures;
}
