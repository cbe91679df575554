// Without layout, element i of a shared array has affinity to thread i mod THREADS (6.5.2.1).
#include <upc.h>
#include "check.h"

shared int a[7 * THREADS];
shared double b[THREADS * 2];

int main(void)
{
    for (int i = 0; i < 7 * THREADS; i++)
        CHECK_EQ(upc_threadof(&a[i]), i % THREADS);
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK_EQ(upc_threadof(&b[i]), i % THREADS);
    return check_failures;
}
