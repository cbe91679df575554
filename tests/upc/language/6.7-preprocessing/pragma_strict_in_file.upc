// #pragma upc outside of functions holds to the next one or the end of the file (6.7.1).
#include "check.h"

shared int data[THREADS], flag[THREADS];

#pragma upc strict
static void signal_to(int thread) { flag[thread] = 1; }

static void wait_here(void)
{
    while (!flag[MYTHREAD])
        ;
}

#pragma upc relaxed
int main(void)
{
    data[(MYTHREAD + 1) % THREADS] = 30 + MYTHREAD;
    signal_to((MYTHREAD + 1) % THREADS);
    wait_here();
    CHECK_EQ(data[MYTHREAD], 30 + (MYTHREAD + THREADS - 1) % THREADS);
    return check_failures;
}
