// A cast between two steps: the first goes by the elements before the cast, the second by those after it (6.4.2, 6.4.3).
// threads: 2 3 4
#include "check.h"

shared [] int a[10][5];
shared int b[4][THREADS];
shared [] long long c[6];

int main(void)
{
    if (MYTHREAD == 0) {
        for (int i = 0; i < 50; i++)
            a[i / 5][i % 5] = 1000 * i;
        for (int i = 0; i < 6; i++)
            c[i] = ((long long)i << 32) + 7;
    }
    for (int i = 0; i < 4; i++)
        b[i][MYTHREAD] = 100 * i + MYTHREAD;
    upc_barrier;
    int i = 3, k = 1;
    CHECK_EQ(((shared [] char *)a[i])[k], (char)(15000 >> 8));
    CHECK_EQ(*((shared [] short *)&a[i][0] + 2 * k), 16000);
    CHECK_EQ(*((shared [] short *)(a[0] + i) + 2 * k), 4000);
    CHECK_EQ(((shared [] char *)(shared void *)a[i])[k], (char)(15000 >> 8));
    CHECK_EQ(((shared [] unsigned *)a[i])[k], 16000);
    CHECK_EQ(((shared [] int *)(c + i))[k], 3);
    CHECK_EQ(((shared [2] int *)b[i - 2])[k], 200);
    return check_failures;
}
