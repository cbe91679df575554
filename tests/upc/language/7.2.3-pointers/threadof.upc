// upc_threadof: the index of the thread with affinity to what is pointed to (7.2.3).
#include <upc.h>
#include "check.h"

shared [3] double a[9 * THREADS];

int main(void)
{
    for (int i = 0; i < 9 * THREADS; i++)
        CHECK_EQ(upc_threadof(&a[i]), i / 3 % THREADS);
    CHECK(_Generic(upc_threadof(a), size_t: 1, default: 0));
    return check_failures;
}
