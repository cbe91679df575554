// c = a + b, element by element.
#include "check.h"

enum { N = 25 };
shared int a[N * THREADS], b[N * THREADS], c[N * THREADS];

int main(void)
{
    int i;
    upc_forall (i = 0; i < N * THREADS; i++; &a[i]) {
        a[i] = i;
        b[i] = 2 * i + 1;
    }
    upc_barrier;
    upc_forall (i = 0; i < N * THREADS; i++; i)
        c[i] = a[i] + b[i];
    upc_barrier;
    for (i = 0; i < N * THREADS; i++)
        CHECK_EQ(c[i], 3 * i + 1);
    return check_failures;
}
