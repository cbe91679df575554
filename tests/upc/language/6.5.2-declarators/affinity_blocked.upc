// Element i of an array with block size B has affinity to thread (i / B) mod THREADS (6.5.2.1).
#include <upc.h>
#include "check.h"

shared [2] char two[8 * THREADS];
shared [3] int three[5 * THREADS];
shared [7] double seven[3 * THREADS];
shared [100] long hundred[4 * THREADS];

int main(void)
{
    for (int i = 0; i < 8 * THREADS; i++)
        CHECK_EQ(upc_threadof(&two[i]), i / 2 % THREADS);
    for (int i = 0; i < 5 * THREADS; i++)
        CHECK_EQ(upc_threadof(&three[i]), i / 3 % THREADS);
    for (int i = 0; i < 3 * THREADS; i++)
        CHECK_EQ(upc_threadof(&seven[i]), i / 7 % THREADS);
    for (int i = 0; i < 4 * THREADS; i++)
        CHECK_EQ(upc_threadof(&hundred[i]), i / 100 % THREADS);
    return check_failures;
}
