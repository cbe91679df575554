/* Sorts keys that are spread over all threads: splitters by gather_all, counts by exchange, places by prefix_reduce, keys by copies that do
 * not block. */
#include <stdio.h>
#include <stdlib.h>
#include <upc.h>
#include <upc_collective.h>
#include <upc_nb.h>

#define KEYS 500                /* of each thread at the start */
#define ROOM (KEYS * THREADS)   /* where all keys of a thread are after it: at most all */

shared [KEYS] unsigned keys[KEYS * THREADS];
shared unsigned samples[THREADS];
shared int counts_of[THREADS]; /* keys that a thread has at the end */
shared int ends[THREADS];
shared [] unsigned *shared sorted[THREADS];

static int by_value(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

static unsigned random_key(unsigned *state)
{
    return (*state = *state * 1664525u + 1013904223u) >> 8;
}

int main(void)
{
    unsigned state = 17 + MYTHREAD, *mine = (unsigned *)&keys[MYTHREAD * KEYS];
    unsigned long long before = 0, after = 0;
    for (int i = 0; i < KEYS; i++) {
        mine[i] = random_key(&state) % 10000;
        before += mine[i];
    }
    qsort(mine, KEYS, sizeof *mine, by_value);

    /* Each thread's median is a sample; the sorted samples but the first split the keys. */
    samples[MYTHREAD] = mine[KEYS / 2];
    shared char *all_samples = upc_all_alloc(THREADS, sizeof(unsigned) * THREADS);
    upc_all_gather_all(all_samples, samples, sizeof(unsigned), UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
    unsigned *split = (unsigned *)&all_samples[MYTHREAD];
    qsort(split, THREADS, sizeof *split, by_value);

    /* How many keys go from thread to thread. */
    shared char *out = upc_all_alloc(THREADS, sizeof(int) * THREADS), *in = upc_all_alloc(THREADS, sizeof(int) * THREADS);
    int *sent = (int *)&out[MYTHREAD], *received = (int *)&in[MYTHREAD];
    for (int t = 0; t < THREADS; t++)
        sent[t] = 0;
    for (int i = 0, t = 0; i < KEYS; i++) {
        while (t < THREADS - 1 && mine[i] >= split[t + 1])
            t++;
        sent[t]++;
    }
    upc_all_exchange(in, out, sizeof(int), UPC_IN_MYSYNC | UPC_OUT_MYSYNC);

    /* Where they go: after those of the threads before. A thread tells each where its keys begin by exchanging again. */
    shared char *places = upc_all_alloc(THREADS, sizeof(int) * THREADS);
    int total = 0;
    for (int t = 0; t < THREADS; t++) {
        int count = received[t];
        received[t] = total;
        total += count;
    }
    counts_of[MYTHREAD] = total;
    sorted[MYTHREAD] = upc_alloc(ROOM * sizeof(unsigned));
    upc_all_exchange(places, in, sizeof(int), 0);
    const int *place = (const int *)&places[MYTHREAD];
    for (int t = 0, first = 0; t < THREADS; first += sent[t++])
        upc_memput_nbi(sorted[t] + place[t], mine + first, sent[t] * sizeof(unsigned));
    upc_synci();
    upc_barrier;

    unsigned *result = (unsigned *)sorted[MYTHREAD];
    qsort(result, total, sizeof *result, by_value);
    upc_all_prefix_reduceI(ends, counts_of, UPC_ADD, THREADS, 1, NULL, 0);
    if (ends[THREADS - 1] != KEYS * THREADS)
        return 1;
    if (ends[MYTHREAD] != total + (MYTHREAD ? ends[MYTHREAD - 1] : 0))
        return 2;

    /* Nothing is lost, and no thread has a key that is less than one of a thread before it. */
    for (int i = 0; i < total; i++)
        after += result[i];
    static shared unsigned long long sums[THREADS], totals[2 * THREADS];
    sums[MYTHREAD] = before;
    upc_all_reduceUL(&totals[0], sums, UPC_ADD, THREADS, 1, NULL, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
    upc_barrier;
    sums[MYTHREAD] = after;
    upc_all_reduceUL(&totals[1], sums, UPC_ADD, THREADS, 1, NULL, 0);
    if (totals[0] != totals[1])
        return 3;
    unsigned most = 0;
    for (int t = 0; t < MYTHREAD; t++)
        if (counts_of[t] && sorted[t][counts_of[t] - 1] > most)
            most = sorted[t][counts_of[t] - 1];
    if (total && result[0] < most)
        return 4;
    upc_barrier;
    if (!MYTHREAD)
        printf("ok %d keys\n", KEYS * THREADS);
    return 0;
}
