// An array name as affinity is the pointer to its first element.
#include "check.h"

shared [2] int m[2 * THREADS][2];
shared int turns[THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 2 * THREADS; i++; m[i])
        turns[MYTHREAD]++;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(turns[t], 2);
    return check_failures;
}
