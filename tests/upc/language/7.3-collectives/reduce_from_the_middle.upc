// The source may point into a block: phase and thread count (7.3.4).
#include <upc_collective.h>
#include "check.h"

shared [4] int a[12 * THREADS];
shared int result;

int main(void)
{
    upc_forall (int i = 0; i < 12 * THREADS; i++; &a[i])
        a[i] = 1 << (i % 12);
    upc_barrier;
    for (int start = 0; start < 8; start += 3)
        for (int count = 1; start + count <= 12 * THREADS; count += 5) {
            int sum = 0;
            for (int i = start; i < start + count; i++)
                sum += 1 << (i % 12);
            upc_all_reduceI(&result, &a[start], UPC_ADD, count, 4, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
            CHECK_EQ(result, sum);
            upc_barrier;
        }
    return check_failures;
}
