#include <upc_strict.h>

extern shared int flag[THREADS];
static int rounds;

void signal_next(void) { flag[(MYTHREAD + 1) % THREADS] += 1; }

void wait_here(void)
{
    rounds++;
    while (flag[MYTHREAD] < rounds)
        ;
}
