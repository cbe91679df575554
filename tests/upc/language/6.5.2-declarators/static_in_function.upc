// A static shared object in a function: one for all threads, kept between calls (6.5.2).
#include "check.h"

static int next_of(int thread)
{
    static shared int counters[THREADS];
    return ++counters[thread];
}

static int *private_counter(void)
{
    static int counter;
    return &counter;
}

int main(void)
{
    CHECK_EQ(next_of((MYTHREAD + 1) % THREADS), 1);
    CHECK_EQ(next_of((MYTHREAD + 1) % THREADS), 2);
    upc_barrier;
    CHECK_EQ(next_of(MYTHREAD), 3);
    CHECK_EQ(*private_counter(), 0);
    return check_failures;
}
