// A cast makes one access strict (6.5.1.1, 6.4.3).
#include "check.h"

shared int data[THREADS];
shared int flag[THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS, previous = (MYTHREAD + THREADS - 1) % THREADS;
    data[next] = 90 + MYTHREAD;
    *(strict shared int *)&flag[next] = 1;
    while (*(strict shared int *)&flag[MYTHREAD] == 0)
        ;
    CHECK_EQ(data[MYTHREAD], 90 + previous);
    return check_failures;
}
