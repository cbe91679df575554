// upc_lock and upc_unlock order relaxed accesses as strict accesses would: a queue guarded by a lock (7.2.4).
#include <upc.h>
#include "check.h"

shared [] int queue[64];
shared int head, tail;
shared int taken[THREADS];

int main(void)
{
    upc_lock_t *lock = upc_all_lock_alloc();
    int items = 10, got = 0, sum = 0;
    for (int i = 0; i < items; i++) {
        upc_lock(lock);
        queue[tail % 64] = MYTHREAD * 100 + i;
        tail = tail + 1;
        upc_unlock(lock);
    }
    while (got < items) {
        upc_lock(lock);
        if (head < tail) {
            sum += queue[head % 64];
            head = head + 1;
            got++;
        }
        upc_unlock(lock);
    }
    taken[MYTHREAD] = sum;
    upc_barrier;
    int all = 0;
    for (int t = 0; t < THREADS; t++)
        all += taken[t];
    CHECK_EQ(all, 100 * items * THREADS * (THREADS - 1) / 2 + THREADS * items * (items - 1) / 2);
    return check_failures;
}
