// Every pair of synchronisation modes; where a mode does not synchronise, barriers do (7.3.2).
#include <upc_collective.h>
#include "check.h"

shared [2] int from[2 * THREADS];
shared [2] int to[2 * THREADS];

int main(void)
{
    upc_flag_t in[] = {UPC_IN_NOSYNC, UPC_IN_MYSYNC, UPC_IN_ALLSYNC}, out[] = {UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC};
    int round = 0;
    for (int i = 0; i < 3; i++)
        for (int o = 0; o < 3; o++) {
            int root = round++ % THREADS;
            from[2 * MYTHREAD] = 1000 * round + MYTHREAD;
            from[2 * MYTHREAD + 1] = -round;
            if (i == 0)
                upc_barrier;
            upc_all_broadcast(to, &from[2 * root], 2 * sizeof(int), in[i] | out[o]);
            if (o == 0)
                upc_barrier;
            CHECK_EQ(to[2 * MYTHREAD], 1000 * round + root);
            CHECK_EQ(to[2 * MYTHREAD + 1], -round);
            upc_barrier;
        }
    return check_failures;
}
