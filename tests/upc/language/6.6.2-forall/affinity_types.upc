// The affinity may be of any integer type (6.6.2).
#include "check.h"

shared int sum[THREADS];

int main(void)
{
    upc_forall (char c = 0; c < 5 * THREADS; c++; c)
        sum[MYTHREAD]++;
    upc_forall (unsigned long u = 0; u < 5ul * THREADS; u++; u)
        sum[MYTHREAD]++;
    upc_forall (long long l = 1ll << 40; l < (1ll << 40) + 5 * THREADS; l++; l)
        sum[MYTHREAD]++;
    upc_forall (int i = 0; i < 5 * THREADS; i++; (short)i)
        sum[MYTHREAD]++;
    upc_forall (int i = 0; i < 5; i++; MYTHREAD)
        sum[MYTHREAD]++;
    CHECK_EQ(sum[MYTHREAD], 25);
    return check_failures;
}
