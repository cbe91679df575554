/* A histogram that all threads count into, by atomics on a cyclic array of int, whose neighbours in memory share words; and what
 * reductions say of it. */
#include <stdio.h>
#include <upc_strict.h>
#include <upc_atomic.h>
#include <upc_collective.h>

#define BINS (8 * THREADS)
#define VALUES 300

shared int bins[BINS], running[BINS];
shared int total, most;
shared double mean;
shared [VALUES] double values[VALUES * THREADS];

static int larger(int a, int b) { return a > b ? a : b; }

int main(void)
{
    upc_atomicdomain_t *counting = upc_all_atomicdomain_alloc(UPC_INT, UPC_INC | UPC_GET | UPC_MAX, UPC_ATOMIC_HINT_DEFAULT);
    for (int i = 0; i < VALUES; i++) {
        int bin = (i * i + MYTHREAD * 7) % BINS;
        upc_atomic_relaxed(counting, NULL, UPC_INC, &bins[bin], NULL, NULL);
        values[MYTHREAD * VALUES + i] = bin + 0.5;
    }
    upc_all_reduceI(&total, bins, UPC_ADD, BINS, 1, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    upc_all_reduceI(&most, bins, UPC_FUNC, BINS, 1, larger, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
    upc_all_prefix_reduceI(running, bins, UPC_ADD, BINS, 1, NULL, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
    upc_all_reduceD(&mean, values, UPC_ADD, VALUES * THREADS, VALUES, NULL, UPC_IN_MYSYNC | UPC_OUT_ALLSYNC);

    int expected = 0, largest = 0;
    double all = 0;
    for (int bin = 0; bin < BINS; bin++) {
        int count = 0;
        for (int t = 0; t < THREADS; t++)
            for (int i = 0; i < VALUES; i++)
                count += (i * i + t * 7) % BINS == bin;
        int found;
        upc_atomic_strict(counting, &found, UPC_GET, &bins[bin], NULL, NULL);
        if (found != count)
            return 1;
        expected += count;
        largest = larger(largest, count);
        all += count * (bin + 0.5);
        if (running[bin] != expected)
            return 2;
    }
    if (total != VALUES * THREADS || most != largest || mean != all)
        return 3;
    upc_all_atomicdomain_free(counting);
    if (MYTHREAD == THREADS - 1)
        printf("ok %d\n", total);
    return 0;
}
