// The type a reference is made through says whether it is strict: a strict pointer to a relaxed object (6.5.1.1).
#include "check.h"

shared int data[THREADS];
shared int flag[THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS, previous = (MYTHREAD + THREADS - 1) % THREADS;
    strict shared int *signal = &flag[next];
    strict shared int *awaited = &flag[MYTHREAD];
    data[next] = 70 + MYTHREAD;
    *signal = 1;
    while (!*awaited)
        ;
    CHECK_EQ(data[MYTHREAD], 70 + previous);
    return check_failures;
}
