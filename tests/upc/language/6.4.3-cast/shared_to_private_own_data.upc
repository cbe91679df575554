// A pointer to shared data of the own thread casts to a private pointer to the same object (6.4.3).
#include "check.h"

shared int a[2 * THREADS];

int main(void)
{
    int *mine = (int *)&a[MYTHREAD];
    *mine = 100 + MYTHREAD;
    mine[1] = 200 + MYTHREAD;
    upc_barrier;
    for (int t = 0; t < THREADS; t++) {
        CHECK_EQ(a[t], 100 + t);
        CHECK_EQ(a[t + THREADS], 200 + t);
    }
    return check_failures;
}
