// upc_affinitysize of real arrays: sizes add up to sizeof (7.2.3).
#include <upc.h>
#include "check.h"

shared [3] int a[9 * THREADS];
shared [] double b[10];

int main(void)
{
    size_t sum = 0;
    for (int t = 0; t < THREADS; t++) {
        CHECK_EQ(upc_affinitysize(sizeof a, 3 * sizeof(int), t), 9 * sizeof(int));
        CHECK_EQ(upc_affinitysize(sizeof b, 0, t), t == 0 ? sizeof b : 0);
        sum += upc_affinitysize(sizeof a, upc_blocksizeof(a) * upc_elemsizeof(a), t);
    }
    CHECK_EQ(sum, sizeof a);
    return check_failures;
}
