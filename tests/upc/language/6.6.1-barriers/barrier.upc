// upc_barrier: all threads arrive before any goes on; what was written before it is seen after it (6.6.1).
#include "check.h"

shared int count[THREADS];

int main(void)
{
    for (int round = 1; round <= 10; round++) {
        count[MYTHREAD]++;
        upc_barrier;
        for (int t = 0; t < THREADS; t++)
            CHECK_EQ(count[t], round);
        upc_barrier;
    }
    return check_failures;
}
