// A thread's own accesses to one address keep program order, also relaxed ones (5.1.2.3).
#include "check.h"

shared int data[THREADS];

int main(void)
{
    int peer = (MYTHREAD + 1) % THREADS;
    for (int i = 0; i < 200; i++) {
        data[peer] = i;
        CHECK_EQ(data[peer], i);
        data[peer] = -i;
        data[peer] += 5;
        CHECK_EQ(data[peer], 5 - i);
    }
    return check_failures;
}
