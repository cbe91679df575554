// A macro may stand for a keyword; other names may begin like one.
#include "check.h"

#define GLOBAL shared
#define FORALL upc_forall
GLOBAL int a[THREADS];
int sharedness = 1, upc_barrier_count = 2, strictly = 3, THREADS_used = 4, MYTHREADS = 5;

int main(void)
{
    FORALL (int i = 0; i < THREADS; i++; i)
        a[i] = sharedness + upc_barrier_count + strictly + THREADS_used + MYTHREADS;
    upc_barrier;
    CHECK_EQ(a[THREADS - 1], 15);
    return check_failures;
}
