// Deep expressions with many shared operands.
#include "check.h"

shared [2] int a[10 * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 10 * THREADS; i++; &a[i])
        a[i] = i + 1;
    upc_barrier;
    CHECK_EQ(((((a[0] + a[1]) * (a[2] - a[3])) << a[4]) | ((a[5] ^ a[6]) & ~a[7])) % (a[8] ? a[9] : 1),
             ((((1 + 2) * (3 - 4)) * (1 << 5)) | ((6 ^ 7) & ~8)) % 10);
    CHECK_EQ(a[a[a[a[a[0]]]]], 5);
    CHECK_EQ(a[0] + a[1] * a[2] + a[3] * a[4] - a[5] / a[1] + a[6] % a[2] + (a[7] >> a[0]) + (a[8] > a[7]) + (a[9] == 10),
             1 + 6 + 20 - 3 + 1 + 4 + 1 + 1);
    return check_failures;
}
