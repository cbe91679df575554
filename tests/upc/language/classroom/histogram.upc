// A histogram: every thread counts into shared bins, each guarded by a lock.
#include <upc.h>
#include "check.h"

enum { BINS = 6, VALUES = 60 };
shared int bins[BINS * THREADS];
upc_lock_t *locks[BINS];

int main(void)
{
    unsigned random = 12345 + MYTHREAD;
    int mine[BINS] = {0};
    shared int *check = upc_all_alloc(BINS * THREADS, sizeof(int));
    for (int b = 0; b < BINS; b++)
        locks[b] = upc_all_lock_alloc();
    for (int i = 0; i < VALUES; i++) {
        random = random * 1103515245 + 12345;
        int bin = random >> 16 & 7;
        bin = bin < BINS ? bin : 0;
        mine[bin]++;
        upc_lock(locks[bin]);
        bins[bin]++;
        upc_unlock(locks[bin]);
    }
    for (int b = 0; b < BINS; b++)
        check[b * THREADS + MYTHREAD] = mine[b];
    upc_barrier;
    for (int b = 0; b < BINS; b++) {
        int sum = 0;
        for (int t = 0; t < THREADS; t++)
            sum += check[b * THREADS + t];
        CHECK_EQ(bins[b], sum);
    }
    upc_barrier;
    upc_all_free(check);
    for (int b = 0; b < BINS; b++)
        upc_all_lock_free(locks[b]);
    return check_failures;
}
