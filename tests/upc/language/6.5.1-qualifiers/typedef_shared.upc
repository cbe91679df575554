// shared types by typedef: scalar, array, pointer (6.5.1.1).
#include <upc.h>
#include "check.h"

typedef shared int shared_int;
typedef shared [4] double blocked;
typedef shared [2] int row[2 * THREADS];
typedef shared [] char *text;

shared_int x;
blocked a[8 * THREADS];
row r;
shared_int *p = &x;

int main(void)
{
    text t = upc_alloc(4);
    t[0] = 'a' + MYTHREAD;
    CHECK_EQ(t[0], 'a' + MYTHREAD);
    CHECK_EQ(upc_blocksizeof(a), 4);
    CHECK_EQ(upc_threadof(&a[5]), 1 % THREADS);
    CHECK_EQ(upc_threadof(&r[2 * THREADS - 1]), THREADS - 1);
    CHECK(p == &x);
    upc_free(t);
    return check_failures;
}
