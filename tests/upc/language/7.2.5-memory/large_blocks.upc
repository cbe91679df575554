// Transfers of many pages.
#include <upc.h>
#include "check.h"

int main(void)
{
    enum { N = 50000 };
    shared [N] int *a = upc_all_alloc(THREADS, N * sizeof(int));
    static int here[N];
    int next = (MYTHREAD + 1) % THREADS;
    for (int i = 0; i < N; i++)
        here[i] = i ^ MYTHREAD;
    upc_memput(a + (size_t)N * next, here, sizeof here);
    upc_barrier;
    upc_memget(here, a + (size_t)N * MYTHREAD, sizeof here);
    int wrong = 0, writer = (MYTHREAD + THREADS - 1) % THREADS;
    for (int i = 0; i < N; i++)
        wrong += here[i] != (i ^ writer);
    CHECK_EQ(wrong, 0);
    upc_all_free(a);
    return check_failures;
}
