// THREADS may come through a typedef'd array (6.5.2.1).
#include <upc.h>
#include "check.h"

typedef int per_thread[THREADS];
shared per_thread a[3];
typedef shared [2] double pairs[2 * THREADS];
pairs b;

int main(void)
{
    CHECK_EQ(sizeof a, 3 * THREADS * sizeof(int));
    for (int i = 0; i < 3; i++)
        for (int t = 0; t < THREADS; t++)
            CHECK_EQ(upc_threadof(&a[i][t]), t);
    CHECK_EQ(upc_threadof(&b[1]), 0);
    CHECK_EQ(upc_threadof(&b[2 * THREADS - 1]), THREADS - 1);
    return check_failures;
}
