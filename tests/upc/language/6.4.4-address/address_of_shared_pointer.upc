// A pointer in shared memory has an address itself: pointers to shared pointers to shared.
#include "check.h"

shared int x;
shared int *shared sp;
shared int *shared *psp;

int main(void)
{
    if (MYTHREAD == 0) {
        x = 5;
        sp = &x;
    }
    upc_barrier;
    psp = &sp;
    CHECK(*psp == &x);
    CHECK_EQ(**psp, 5);
    upc_barrier;
    if (MYTHREAD == THREADS - 1)
        **psp = 6;
    upc_barrier;
    CHECK_EQ(x, 6);
    return check_failures;
}
