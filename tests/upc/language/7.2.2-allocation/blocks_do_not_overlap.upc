// Objects alive at one time do not overlap, whoever allocated them by whatever function (7.2.2).
#include <upc.h>
#include "check.h"

int main(void)
{
    enum { COUNT = 12 };
    shared [] unsigned char *mine[COUNT];
    shared unsigned char *global[COUNT];
    for (int i = 0; i < COUNT; i++) {
        mine[i] = upc_alloc(i * 7 + 1);
        global[i] = upc_global_alloc(THREADS * 3, 1);
        upc_memset(mine[i], 10 * MYTHREAD + i, i * 7 + 1);
        for (int k = 0; k < 3 * THREADS; k++)
            global[i][k] = 100 + 10 * MYTHREAD + i;
    }
    upc_barrier;
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < i * 7 + 1; k++)
            CHECK_EQ(mine[i][k], 10 * MYTHREAD + i);
        for (int k = 0; k < 3 * THREADS; k++)
            CHECK_EQ(global[i][k], 100 + 10 * MYTHREAD + i);
        upc_free(mine[i]);
        upc_free(global[i]);
    }
    return check_failures;
}
