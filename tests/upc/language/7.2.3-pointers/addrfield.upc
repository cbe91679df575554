// upc_addrfield: the address within the thread's memory; within one block it grows by the size of the element (7.2.3).
#include <upc.h>
#include "check.h"

shared [5] short a[10 * THREADS];

int main(void)
{
    for (int i = 0; i < 10 * THREADS; i++)
        if (i % 5)
            CHECK_EQ(upc_addrfield(&a[i]) - upc_addrfield(&a[i - 1]), sizeof(short));
    CHECK(_Generic(upc_addrfield(a), size_t: 1, default: 0));
    return check_failures;
}
