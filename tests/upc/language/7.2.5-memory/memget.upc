// upc_memget: from shared to private memory (7.2.5).
#include <upc.h>
#include "check.h"

shared [10] int a[10 * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 10 * THREADS; i++; &a[i])
        a[i] = 3 * i;
    upc_barrier;
    for (int t = 0; t < THREADS; t++) {
        int copy[10];
        upc_memget(copy, &a[10 * t], sizeof copy);
        for (int i = 0; i < 10; i++)
            CHECK_EQ(copy[i], 3 * (10 * t + i));
        upc_memget(copy + 1, &a[10 * t + 7], 3 * sizeof(int));
        CHECK(copy[0] == 30 * t && copy[3] == 3 * (10 * t + 9) && copy[4] == 3 * (10 * t + 4));
    }
    return check_failures;
}
