// p[i] with p in the middle of an array, i of either sign (6.4.2).
#include "check.h"

shared [3] long a[6 * THREADS];

int main(void)
{
    if (MYTHREAD == 0)
        for (int i = 0; i < 6 * THREADS; i++)
            a[i] = 1000 + i;
    upc_barrier;
    for (int middle = 0; middle < 6 * THREADS; middle++) {
        shared [3] long *p = &a[middle];
        for (int i = -middle; i < 6 * THREADS - middle; i++)
            CHECK_EQ(p[i], 1000 + middle + i);
    }
    return check_failures;
}
