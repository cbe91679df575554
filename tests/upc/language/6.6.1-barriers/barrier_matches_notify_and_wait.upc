// upc_barrier is a upc_notify followed by a upc_wait: threads may mix the forms (6.6.1).
#include "check.h"

shared int a[THREADS];

int main(void)
{
    for (int round = 1; round <= 6; round++) {
        a[MYTHREAD] = round;
        if ((MYTHREAD + round) % 2) {
            upc_barrier round;
        } else {
            upc_notify round;
            upc_wait round;
        }
        CHECK_EQ(a[(MYTHREAD + 1) % THREADS], round);
        upc_barrier;
    }
    return check_failures;
}
