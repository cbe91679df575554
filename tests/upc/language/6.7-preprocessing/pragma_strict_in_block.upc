// #pragma upc strict at the start of a block holds to the block's end (6.7.1).
#include "check.h"

shared int data[THREADS], flag[THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS, previous = (MYTHREAD + THREADS - 1) % THREADS;
    data[next] = 30 + MYTHREAD;
    {
#pragma upc strict
        flag[next] = 1;
        while (!flag[MYTHREAD])
            ;
    }
    CHECK_EQ(data[MYTHREAD], 30 + previous);
    return check_failures;
}
