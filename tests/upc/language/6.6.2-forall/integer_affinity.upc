// With an integer affinity, iterations run on thread affinity mod THREADS (6.6.2).
#include "check.h"

shared int who[5 * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 5 * THREADS; i++; i)
        who[i] = MYTHREAD + 1;
    upc_barrier;
    for (int i = 0; i < 5 * THREADS; i++)
        CHECK_EQ(who[i], i % THREADS + 1);
    return check_failures;
}
