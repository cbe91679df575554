// upc_fence is a statement of its own, any number of times, by any one thread (6.6.1).
#include "check.h"

shared int a[THREADS];

int main(void)
{
    int peer = (MYTHREAD + 1) % THREADS;
    if (MYTHREAD == 0)
        upc_fence;
    for (int i = 0; i <= MYTHREAD; i++) {
        a[peer] = i;
        upc_fence;
        CHECK_EQ(a[peer], i);
    }
    upc_barrier;
    CHECK_EQ(a[peer], MYTHREAD);
    return check_failures;
}
