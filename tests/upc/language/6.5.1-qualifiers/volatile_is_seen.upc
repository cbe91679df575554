// A volatile shared object is looked at each time: its accesses are strict, so a loop that waits for it ends.
// threads: 2 3 4
#include "check.h"

volatile shared int flag[THREADS];
shared int data[THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS;
    CHECK_EQ(data[next] + flag[MYTHREAD], 0); // may be in a cache now
    upc_barrier;
    data[MYTHREAD] = 5 + MYTHREAD;
    flag[(MYTHREAD + THREADS - 1) % THREADS] = 1;
    while (!flag[MYTHREAD]) { }
    CHECK_EQ(data[next], 5 + next);
    return check_failures;
}
