// Shared data that no other thread uses may be accessed between upc_notify and upc_wait (6.6.1).
#include "check.h"

shared int mine[THREADS];
shared int theirs[THREADS];

int main(void)
{
    for (int round = 0; round < 5; round++) {
        upc_notify;
        mine[MYTHREAD] = 3 * round;
        theirs[(MYTHREAD + 1) % THREADS] = mine[MYTHREAD] + MYTHREAD;
        upc_wait;
        upc_barrier;
        CHECK_EQ(theirs[MYTHREAD], 3 * round + (MYTHREAD + THREADS - 1) % THREADS);
        upc_barrier;
    }
    return check_failures;
}
