// upc_castable.h: upc_cast gives a private pointer to data of another thread where that is possible, and to own data always (7.4.2).
#include <upc_castable.h>
#include "check.h"

shared int a[THREADS];

int main(void)
{
    a[MYTHREAD] = 10 + MYTHREAD;
    upc_barrier;
    CHECK(upc_cast(&a[MYTHREAD]) == (void *)(int *)&a[MYTHREAD]);
    for (int t = 0; t < THREADS; t++) {
        int *p = upc_cast(&a[t]);
        upc_thread_info_t info = upc_thread_info(t);
        if (info.guaranteedCastable & UPC_CASTABLE_STATIC)
            CHECK(p != NULL);
        CHECK_EQ(info.guaranteedCastable & ~info.probablyCastable & UPC_CASTABLE_ALL, 0);
        if (p != NULL)
            CHECK_EQ(*p, 10 + t);
    }
    CHECK(upc_cast(NULL) == NULL);
    return check_failures;
}
