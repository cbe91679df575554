// Steps of more than one, downwards, of two variables.
#include "check.h"

shared int a[8 * THREADS];

int main(void)
{
    upc_forall (int i = 8 * THREADS - 1; i >= 0; i -= 2; i)
        a[i] += 1;
    upc_forall (int i = 0, j = 8 * THREADS - 2; i < j + 2 && j >= 0; i++, j -= 2; j)
        a[j] += 2;
    upc_barrier;
    for (int i = 0; i < 8 * THREADS; i++)
        CHECK(a[i] == (i % 2 ? 1 : 2) || (i % 2 == 0 && a[i] == 0));
    CHECK_EQ(a[8 * THREADS - 1], 1);
    CHECK_EQ(a[8 * THREADS - 2], 2);
    return check_failures;
}
