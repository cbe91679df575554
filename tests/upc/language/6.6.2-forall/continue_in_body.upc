// `continue` in the body goes on with the next iteration (6.6.2).
#include "check.h"

shared int a[6 * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 6 * THREADS; i++; &a[i]) {
        if (i % 2)
            continue;
        a[i] = 1;
    }
    upc_barrier;
    for (int i = 0; i < 6 * THREADS; i++)
        CHECK_EQ(a[i], i % 2 ? 0 : 1);
    return check_failures;
}
