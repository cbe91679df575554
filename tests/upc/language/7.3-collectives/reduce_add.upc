// upc_all_reduce with UPC_ADD over a blocked array (7.3.4).
#include <upc_collective.h>
#include "check.h"

shared [3] int a[6 * THREADS];
shared int sum;
shared [3] double d[6 * THREADS];
shared double total;

int main(void)
{
    upc_forall (int i = 0; i < 6 * THREADS; i++; &a[i]) {
        a[i] = i + 1;
        d[i] = i * 0.5;
    }
    int n = 6 * THREADS;
    upc_all_reduceI(&sum, a, UPC_ADD, n, 3, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    upc_all_reduceD(&total, d, UPC_ADD, n, 3, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    CHECK_EQ(sum, n * (n + 1) / 2);
    CHECK(total == n * (n - 1) / 4.0);
    return check_failures;
}
