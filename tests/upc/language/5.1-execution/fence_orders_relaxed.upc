// upc_fence orders the relaxed accesses around it: what was written before it is seen when the flag after it is (5.1.2.3, 6.6.1).
#include "check.h"

relaxed shared int data[THREADS];
relaxed shared int flag[THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS, previous = (MYTHREAD + THREADS - 1) % THREADS;
    data[next] = 500 + MYTHREAD;
    upc_fence;
    flag[next] = 1;
    do
        upc_fence;
    while (!flag[MYTHREAD]);
    upc_fence;
    CHECK_EQ(data[MYTHREAD], 500 + previous);
    return check_failures;
}
