// Elements whose size is not a power of two, in blocks.
#include <upc.h>
#include "check.h"

struct odd { char c[13]; };
struct large { int n[25]; };
shared [3] struct odd a[6 * THREADS];
shared struct large b[2 * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 6 * THREADS; i++; &a[i])
        for (int k = 0; k < 13; k++)
            a[i].c[k] = (char)(i + k);
    upc_forall (int i = 0; i < 2 * THREADS; i++; &b[i])
        for (int k = 0; k < 25; k++)
            b[i].n[k] = 100 * i + k;
    upc_barrier;
    for (int i = 0; i < 6 * THREADS; i++)
        for (int k = 0; k < 13; k++)
            CHECK_EQ(a[i].c[k], (char)(i + k));
    for (int i = 0; i < 2 * THREADS; i++)
        for (int k = 0; k < 25; k++)
            CHECK_EQ(b[i].n[k], 100 * i + k);
    return check_failures;
}
