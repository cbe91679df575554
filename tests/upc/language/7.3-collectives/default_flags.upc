// Flags of 0 mean UPC_IN_ALLSYNC and UPC_OUT_ALLSYNC (7.3.2).
#include <upc_collective.h>
#include "check.h"

shared int from[THREADS], to[THREADS];

int main(void)
{
    for (int round = 0; round < 5; round++) {
        from[(MYTHREAD + 1) % THREADS] = 10 * round + (MYTHREAD + 1) % THREADS;
        upc_all_broadcast(to, &from[round % THREADS], sizeof(int), 0);
        for (int t = 0; t < THREADS; t++)
            CHECK_EQ(to[t], 10 * round + round % THREADS);
        upc_barrier;
    }
    return check_failures;
}
