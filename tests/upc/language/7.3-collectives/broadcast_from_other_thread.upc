// The source of upc_all_broadcast may lie with any thread (7.3.1.1).
#include <upc_collective.h>
#include "check.h"

shared [3] double all[3 * THREADS];
shared [3] double destination[3 * THREADS];

int main(void)
{
    for (int root = 0; root < THREADS; root++) {
        for (int i = 0; i < 3; i++)
            all[3 * MYTHREAD + i] = 100 * MYTHREAD + i + root * 0.5;
        upc_all_broadcast(destination, &all[3 * root], 3 * sizeof(double), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
        for (int i = 0; i < 3 * THREADS; i++)
            CHECK(destination[i] == 100 * root + i % 3 + root * 0.5);
        upc_barrier;
    }
    return check_failures;
}
