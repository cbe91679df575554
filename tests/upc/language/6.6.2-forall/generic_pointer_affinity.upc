// A generic pointer-to-shared and one cast from another type as affinity.
#include "check.h"

shared [4] char a[8 * THREADS];
shared int turns[THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 8 * THREADS; i++; (shared void *)&a[i])
        turns[MYTHREAD]++;
    upc_forall (int i = 0; i < 8 * THREADS; i += 4; (shared [] int *)&a[i])
        turns[MYTHREAD] += 100;
    CHECK_EQ(turns[MYTHREAD], 208);
    return check_failures;
}
