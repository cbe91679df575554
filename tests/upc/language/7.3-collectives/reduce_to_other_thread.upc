// The result lies where the destination points (7.3.4).
#include <upc_collective.h>
#include "check.h"

shared int a[3 * THREADS];
shared long results[THREADS];
shared long b[3 * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 3 * THREADS; i++; i) {
        a[i] = i;
        b[i] = -i;
    }
    for (int t = 0; t < THREADS; t++)
        upc_all_reduceL(&results[t], b, t % 2 ? UPC_MIN : UPC_ADD, 3 * THREADS, 1, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    int n = 3 * THREADS;
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(results[t], t % 2 ? 1 - n : -n * (n - 1) / 2);
    return check_failures;
}
