// Pi by throwing darts; what every thread hit is added up by a reduction.
#include <math.h>
#include <upc_collective.h>
#include "check.h"

enum { DARTS = 20000 };
shared long hits[THREADS];
shared long all;

int main(void)
{
    unsigned long random = 88172645463325252ul + 7919ul * MYTHREAD;
    long mine = 0;
    for (int i = 0; i < DARTS; i++) {
        double at[2];
        for (int k = 0; k < 2; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            at[k] = (random >> 11) / 9007199254740992.0;
        }
        mine += at[0] * at[0] + at[1] * at[1] <= 1;
    }
    hits[MYTHREAD] = mine;
    upc_all_reduceL(&all, hits, UPC_ADD, THREADS, 1, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    double pi = 4.0 * all / ((double)DARTS * THREADS);
    CHECK(fabs(pi - 3.14159) < 0.1);
    long sum = 0;
    for (int t = 0; t < THREADS; t++)
        sum += hits[t];
    CHECK_EQ(sum, all);
    return check_failures;
}
