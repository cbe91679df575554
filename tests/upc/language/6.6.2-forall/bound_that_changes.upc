// The condition is evaluated before each iteration: a bound that names the counter, or that the body changes through a pointer, is another
// one each time.
#include "check.h"
#define N 60

shared int flags[N * THREADS];
static int limit = N;

struct holder {
    int *where;
    shared [] int *there;
};
shared struct holder holders[THREADS];
int *shared pointers[THREADS];

static int set_flags(int from, int to)
{
    int wrong = 0;
    upc_barrier;
    for (int k = 0; k < N * THREADS; k++)
        wrong += flags[k] != (from <= k && k < to);
    upc_barrier;
    for (int k = MYTHREAD; k < N * THREADS; k += THREADS)
        flags[k] = 0;
    upc_barrier;
    return wrong;
}

static void by_division(int n)
{
    int i;
    upc_forall (i = 1; i <= n / i; i++; &flags[i])
        flags[i] = 1;
    CHECK_EQ(i, 8);
    CHECK_EQ(set_flags(1, 8), 0);
    upc_forall (i = 1; i <= n / i; i++; i)
        flags[i] = 1;
    CHECK_EQ(i, 8);
    CHECK_EQ(set_flags(1, 8), 0);
}

static void by_difference(int n)
{
    int i;
    upc_forall (i = 0; i < n - i; i++; &flags[i])
        flags[i] = 1;
    CHECK_EQ(i, n / 2);
    CHECK_EQ(set_flags(0, n / 2), 0);
    upc_forall (i = 0; i < n - i; i++; i)
        n += 0; /* not by runs, as the body assigns to the bound */
    CHECK_EQ(i, n / 2);
}

/* Each thread lowers its own limit in its first iteration. */
static void by_pointer(int *at)
{
    int i;
    holders[MYTHREAD].where = at;
    pointers[MYTHREAD] = at;
    upc_forall (i = 0; i < limit; i++; &flags[i]) {
        flags[i] = 1;
        *holders[MYTHREAD].where = THREADS;
    }
    CHECK_EQ(i, THREADS);
    CHECK_EQ(set_flags(0, THREADS), 0);
    limit = N;
    upc_forall (i = 0; i < limit; i++; &flags[i]) {
        flags[i] = 1;
        pointers[MYTHREAD][0] = THREADS;
    }
    CHECK_EQ(i, THREADS);
    CHECK_EQ(set_flags(0, THREADS), 0);
    limit = N;
}

int main(void)
{
    by_division(N);
    by_difference(N);
    by_pointer(&limit);
    return check_failures;
}
