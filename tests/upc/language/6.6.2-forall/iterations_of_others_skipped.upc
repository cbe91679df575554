// Each iteration is done by the one thread of its affinity, and the count ends where that of a for ends, however it runs (6.6.2).
#include <upc.h>
#include "check.h"

#define N 41
shared int cyclic[N * THREADS];
shared [3] double blocked[3 * N * THREADS];
shared [] char whole[N];
shared int done[200 * THREADS];
shared [3] double *at;

static void clear(void)
{
    upc_barrier;
    for (int i = 0; i < 200; i++)
        done[MYTHREAD + i * THREADS] = 0;
    upc_barrier;
}

// Each place from `first` to before `last` was marked once, no other was.
static void check(int first, int last)
{
    upc_barrier;
    for (int i = 0; i < 200; i++) {
        int all = 0;
        for (int t = 0; t < THREADS; t++)
            all += done[i * THREADS + t];
        CHECK_EQ(all, i >= first && i < last);
    }
    clear();
}

#define MARK(i, owner)                          \
    do {                                        \
        CHECK_EQ((owner), MYTHREAD);            \
        done[(i) * THREADS + MYTHREAD]++;       \
    } while (0)

int main(void)
{
    int i, n = N;
    long l;
    size_t u;
    clear();
    upc_forall (i = 0; i < n; i++; i)
        MARK(i, i % THREADS);
    CHECK_EQ(i, n);
    check(0, n);
    upc_forall (i = 5; i <= n; ++i; i) {
        if (i % 7 == 0)
            continue;
        MARK(i, i % THREADS);
    }
    CHECK_EQ(i, n + 1);
    clear();
    upc_forall (l = -3; l < N - 4; l += 1; l)
        MARK(l + 3, (int)((l + 12 * THREADS) % THREADS));
    CHECK_EQ(l, N - 4);
    check(0, N - 1);
    upc_forall (i = 0; i < N; i++; &cyclic[i])
        MARK(i, (int)upc_threadof(&cyclic[i]));
    CHECK_EQ(i, N);
    check(0, N);
    upc_forall (u = 2; u < 3 * N; u++; &blocked[u])
        MARK(u, (int)upc_threadof(&blocked[u]));
    CHECK_EQ((int)u, 3 * N);
    check(2, 3 * N);
    at = &blocked[4];
    upc_forall (i = -4; i < N; i++; &at[i])
        MARK(i + 4, (int)upc_threadof(&at[i]));
    CHECK_EQ(i, N);
    check(0, N + 4);
    upc_forall (i = 0; i < N; i++; &whole[i])
        MARK(i, 0);
    CHECK_EQ(i, N);
    check(0, N);
    // The body moves the count and the bound.
    n = 30;
    upc_forall (i = 0; i < n; i++; continue)
        n = 30;
    upc_forall (i = 0; i < n; i++; i) {
        n = 30 - 1;
        i += 0;
    }
    CHECK_EQ(i >= 29 && i <= 30, 1);
    // In another upc_forall all iterations are this thread's.
    upc_forall (int j = 0; j < THREADS; j++; j) {
        int count = 0;
        upc_forall (i = 0; i < N; i++; i)
            count++;
        CHECK_EQ(count, N);
    }
    upc_forall (i = 3; i < 3; i++; i)
        CHECK(0);
    CHECK_EQ(i, 3);
    return check_failures;
}
