// A queue of tasks under a lock: each task is done once, by whatever thread takes it.
#include <upc.h>
#include "check.h"

enum { TASKS = 40 };
shared int next_task;
shared int done_by[TASKS * THREADS];
shared long results[TASKS * THREADS];

static long work(int task)
{
    long sum = 0;
    for (int i = 0; i <= task; i++)
        sum += (long)i * i;
    return sum;
}

int main(void)
{
    upc_lock_t *lock = upc_all_lock_alloc();
    int mine = 0;
    for (;;) {
        upc_lock(lock);
        int task = next_task;
        if (task < TASKS)
            next_task = task + 1;
        upc_unlock(lock);
        if (task >= TASKS)
            break;
        done_by[task] += 1 + MYTHREAD;
        results[task] = work(task);
        mine++;
    }
    CHECK(mine <= TASKS);
    upc_barrier;
    for (int task = 0; task < TASKS; task++) {
        CHECK(1 <= done_by[task] && done_by[task] <= THREADS);
        CHECK_EQ(results[task], work(task));
    }
    upc_all_lock_free(lock);
    return check_failures;
}
