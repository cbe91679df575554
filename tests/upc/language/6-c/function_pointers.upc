// Pointers to functions with and without parameters of shared pointer type; tables of them.
#include "check.h"

shared [2] int a[2 * THREADS];

typedef int reader(shared [2] int *);
static int first(shared [2] int *p) { return p[0]; }
static int second(shared [2] int *p) { return p[1]; }
static int both(shared [2] int *p, reader *f, int (*g)(shared [2] int *)) { return f(p) * 100 + (*g)(p); }
static reader *choose(int n) { return n ? second : first; }

int main(void)
{
    reader *table[] = {first, second};
    a[2 * MYTHREAD] = 3;
    a[2 * MYTHREAD + 1] = 4;
    upc_barrier;
    int peer = 2 * ((MYTHREAD + 1) % THREADS);
    CHECK_EQ(table[1](&a[peer]), 4);
    CHECK_EQ(both(&a[peer], first, &second), 304);
    CHECK_EQ(choose(a[peer] == 3)(a), 4);
    return check_failures;
}
