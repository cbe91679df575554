// What a thread holds of a blocked array lies in one piece: a private pointer walks over it (6.4.3, 6.5.2.1).
#include "check.h"

shared [4] double a[12 * THREADS];

int main(void)
{
    double *mine = (double *)&a[4 * MYTHREAD];
    for (int i = 0; i < 12; i++)
        mine[i] = 1000.0 * MYTHREAD + i;
    upc_barrier;
    for (int i = 0; i < 12 * THREADS; i++) {
        int owner = i / 4 % THREADS;
        CHECK(a[i] == 1000.0 * owner + i / (4 * THREADS) * 4 + i % 4);
    }
    return check_failures;
}
