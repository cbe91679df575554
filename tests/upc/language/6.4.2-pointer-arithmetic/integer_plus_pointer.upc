// i + p is p + i, i[p] is p[i] (C99 6.5.6, 6.5.2.1).
#include "check.h"

shared [2] int a[4 * THREADS];

int main(void)
{
    shared [2] int *p = a;
    if (MYTHREAD == 0)
        for (int i = 0; i < 4 * THREADS; i++)
            i[a] = 3 * i;
    upc_barrier;
    for (int i = 0; i < 4 * THREADS; i++) {
        CHECK(i + p == p + i);
        CHECK_EQ(i[p], 3 * i);
        CHECK_EQ(*(i + a), 3 * i);
    }
    return check_failures;
}
