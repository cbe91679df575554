// A hash table of lists, a lock for each bucket.
#include <upc.h>
#include "check.h"

enum { BUCKETS = 3 };
upc_lock_t *shared lock_of[BUCKETS * THREADS];
shared int members[BUCKETS * THREADS];

int main(void)
{
    int buckets = BUCKETS * THREADS;
    upc_forall (int i = 0; i < buckets; i++; &lock_of[i])
        lock_of[i] = upc_global_lock_alloc();
    upc_barrier;
    for (int key = 0; key < 60; key++) {
        int bucket = (key * 7 + MYTHREAD) % buckets;
        upc_lock(lock_of[bucket]);
        members[bucket] += 1;
        upc_unlock(lock_of[bucket]);
    }
    upc_barrier;
    int sum = 0;
    for (int i = 0; i < buckets; i++)
        sum += members[i];
    CHECK_EQ(sum, 60 * THREADS);
    upc_barrier;
    upc_forall (int i = 0; i < buckets; i++; &lock_of[i])
        upc_lock_free(lock_of[i]);
    return check_failures;
}
