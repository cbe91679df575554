// upc_notify and upc_wait: what was written before the notify is seen after the wait; private work may lie between them (6.6.1).
#include "check.h"

shared int a[THREADS];

int main(void)
{
    for (int round = 0; round < 10; round++) {
        a[(MYTHREAD + 1) % THREADS] = 10 * round + MYTHREAD;
        upc_notify;
        int work = 0;
        for (int i = 0; i < 100; i++)
            work += i;
        CHECK_EQ(work, 4950);
        upc_wait;
        CHECK_EQ(a[MYTHREAD], 10 * round + (MYTHREAD + THREADS - 1) % THREADS);
        upc_barrier;
    }
    return check_failures;
}
