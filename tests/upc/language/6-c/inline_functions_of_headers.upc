// Static inline functions with static shared objects of their own; one object for each file's function (C99 6.7.4).
#include "check.h"

static inline shared int *counter_of(int thread)
{
    static shared int counters[THREADS];
    return &counters[thread];
}

static inline void swap(shared int *a, shared int *b)
{
    int old = *a;
    *a = *b;
    *b = old;
}

shared int pair[2 * THREADS];

int main(void)
{
    int t = (MYTHREAD + 1) % THREADS;
    ++*counter_of(t);
    (*counter_of(t))++;
    *counter_of(t) += 3;
    CHECK_EQ(*counter_of(t), 5);
    pair[t] = 1;
    pair[t + THREADS] = 2;
    swap(&pair[t], &pair[t + THREADS]);
    CHECK_EQ(10 * pair[t] + pair[t + THREADS], 21);
    return check_failures;
}
