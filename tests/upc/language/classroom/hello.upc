// The first program: every thread says hello, one after the other. Only thread 0 prints here; the others leave their word in shared memory.
// threads: 3
// expect: thread 0 of 3
// expect: thread 1 of 3
// expect: thread 2 of 3
#include <stdio.h>
#include <upc.h>

shared [32] char words[32 * THREADS];

int main(void)
{
    char mine[32];
    snprintf(mine, sizeof mine, "thread %d of %d", MYTHREAD, THREADS);
    upc_memput(&words[32 * MYTHREAD], mine, sizeof mine);
    upc_barrier;
    if (MYTHREAD == 0)
        for (int t = 0; t < THREADS; t++) {
            upc_memget(mine, &words[32 * t], sizeof mine);
            printf("%s\n", mine);
        }
    return 0;
}
