// Private and shared pointers, to private and to shared (6.5.1.1): where each lies and what it may point to.
#include <upc.h>
#include "check.h"

shared int target[THREADS];
shared int *private_to_shared;
shared int *shared shared_to_shared;
int *private_to_private;

int main(void)
{
    int x = 3;
    private_to_private = &x;
    private_to_shared = &target[MYTHREAD];
    if (MYTHREAD == THREADS - 1)
        shared_to_shared = &target[MYTHREAD];
    upc_barrier;
    *private_to_shared = *private_to_private + MYTHREAD;
    upc_barrier;
    CHECK_EQ(*shared_to_shared, 3 + THREADS - 1);
    CHECK_EQ(upc_threadof(shared_to_shared), THREADS - 1);
    CHECK_EQ(upc_threadof(&shared_to_shared), 0);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(target[t], 3 + t);
    return check_failures;
}
