// upc_localsizeof: an upper bound of what one thread holds, the same on every thread (6.4.1.1).
#include "check.h"

shared int cyclic[10 * THREADS];
shared [4] double blocked[12 * THREADS];
shared [] char indefinite[9];
shared int sizes[3 * THREADS];

int main(void)
{
    CHECK(upc_localsizeof(cyclic) >= 10 * sizeof(int));
    CHECK(upc_localsizeof(blocked) >= 12 * sizeof(double));
    CHECK(upc_localsizeof(indefinite) >= 9);
    sizes[MYTHREAD] = upc_localsizeof(cyclic);
    sizes[THREADS + MYTHREAD] = upc_localsizeof(blocked);
    sizes[2 * THREADS + MYTHREAD] = upc_localsizeof(indefinite);
    upc_barrier;
    for (int i = 0; i < 3 * THREADS; i++)
        CHECK_EQ(sizes[i], sizes[i / THREADS * THREADS]);
    return check_failures;
}
