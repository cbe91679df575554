// The loop variable itself may be the pointer to shared that gives the affinity.
#include <upc.h>
#include "check.h"

shared [2] int a[6 * THREADS];

int main(void)
{
    shared [2] int *p;
    upc_forall (p = a; p < a + 6 * THREADS; p++; p) {
        CHECK_EQ(upc_threadof(p), MYTHREAD);
        *p = 9;
    }
    CHECK(p == a + 6 * THREADS);
    upc_barrier;
    for (int i = 0; i < 6 * THREADS; i++)
        CHECK_EQ(a[i], 9);
    return check_failures;
}
