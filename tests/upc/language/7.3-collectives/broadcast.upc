// upc_all_broadcast: a block of one thread's memory to each thread (7.3.1.1).
#include <upc_collective.h>
#include "check.h"

shared [] int source[5];
shared [5] int destination[5 * THREADS];

int main(void)
{
    if (MYTHREAD == 0)
        for (int i = 0; i < 5; i++)
            source[i] = 10 + i;
    upc_all_broadcast(destination, source, 5 * sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    for (int i = 0; i < 5 * THREADS; i++)
        CHECK_EQ(destination[i], 10 + i % 5);
    return check_failures;
}
