// Barriers in functions, reached on different ways by different threads.
#include "check.h"

shared int stage[THREADS];

static void here(int n) { stage[MYTHREAD] = n; upc_barrier n; }
static void there(int n) { stage[MYTHREAD] = n; upc_notify n; upc_wait n; }

static void down(int n)
{
    if (n == 0)
        return;
    if (MYTHREAD == 0)
        here(n);
    else
        there(n);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(stage[t], n);
    upc_barrier;
    down(n - 1);
}

int main(void)
{
    down(6);
    return check_failures;
}
