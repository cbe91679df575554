// Bucket sort: each thread sends its keys to the threads that own their ranges, and sorts what it got.
#include <stdlib.h>
#include <upc.h>
#include "check.h"

enum { KEYS = 40, RANGE = 100 };
shared [] int *shared buckets[THREADS];
shared int filled[THREADS];
shared [KEYS] int sent[KEYS * THREADS];

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void)
{
    upc_lock_t *shared *locks = upc_all_alloc(THREADS, sizeof(upc_lock_t *));
    locks[MYTHREAD] = upc_global_lock_alloc();
    buckets[MYTHREAD] = upc_alloc(KEYS * THREADS * sizeof(int));
    unsigned random = 77 * (MYTHREAD + 1);
    for (int i = 0; i < KEYS; i++)
        sent[KEYS * MYTHREAD + i] = (random = random * 1664525 + 1013904223) >> 8 & 0xffff;
    upc_barrier;
    for (int i = 0; i < KEYS; i++) {
        int key = sent[KEYS * MYTHREAD + i] % (RANGE * THREADS), owner = key / RANGE;
        upc_lock(locks[owner]);
        buckets[owner][filled[owner]++] = key;
        upc_unlock(locks[owner]);
    }
    upc_barrier;
    int *mine = (int *)buckets[MYTHREAD], count = filled[MYTHREAD];
    qsort(mine, count, sizeof(int), ascending);
    upc_barrier;
    int all = 0, before = -1;
    long sum = 0;
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < filled[t]; i++) {
            int key = buckets[t][i];
            CHECK(key >= before);
            CHECK_EQ(key / RANGE, t);
            before = key;
            sum += key;
            all++;
        }
    CHECK_EQ(all, KEYS * THREADS);
    for (int i = 0; i < KEYS * THREADS; i++)
        sum -= sent[i] % (RANGE * THREADS);
    CHECK_EQ(sum, 0);
    upc_barrier;
    upc_lock_free(locks[MYTHREAD]);
    upc_free(buckets[MYTHREAD]);
    upc_all_free(locks);
    return check_failures;
}
