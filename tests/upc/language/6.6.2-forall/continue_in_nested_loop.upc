// `continue` and `break` in a plain loop within the body belong to that loop.
#include "check.h"

shared int a[2 * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 2 * THREADS; i++; i) {
        for (int k = 0; k < 10; k++) {
            if (k < 3)
                continue;
            if (k == 6)
                break;
            a[i] += k;
        }
        switch (i) {
        case 0:
            a[i] += 100;
            break;
        default:
            a[i] += 200;
        }
    }
    upc_barrier;
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK_EQ(a[i], 12 + (i ? 200 : 100));
    return check_failures;
}
