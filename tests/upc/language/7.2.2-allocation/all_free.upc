// upc_all_free: collective, frees after all threads have called it; from any allocation function (7.2.2).
#include <upc.h>
#include "check.h"

shared [] int *shared one;
shared int *shared many;

int main(void)
{
    for (int round = 0; round < 5; round++) {
        shared int *p = upc_all_alloc(4 * THREADS, sizeof(int));
        p[MYTHREAD] = round;
        if (MYTHREAD == 0) {
            one = upc_alloc(8 * sizeof(int));
            many = upc_global_alloc(THREADS, sizeof(int));
        }
        upc_barrier;
        shared [] int *q = one;
        shared int *r = many;
        upc_all_free(p);
        upc_all_free(q);
        upc_all_free(r);
    }
    return check_failures;
}
