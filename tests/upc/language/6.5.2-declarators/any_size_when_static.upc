// With static THREADS the size of a shared array need not be a multiple of THREADS (6.5.2.1).
// environment: static
#include <upc.h>
#include "check.h"

shared int a[10];
shared int b[10 + THREADS];
shared [] int c[THREADS];
shared [3] int d[THREADS][THREADS];
shared [4] int e[13];

int main(void)
{
    for (int i = 0; i < 10; i++)
        CHECK_EQ(upc_threadof(&a[i]), i % THREADS);
    for (int i = 0; i < 10 + THREADS; i++)
        CHECK_EQ(upc_threadof(&b[i]), i % THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(upc_threadof(&c[i]), 0);
    for (int i = 0; i < THREADS * THREADS; i++)
        CHECK_EQ(upc_threadof(&d[i / THREADS][i % THREADS]), i / 3 % THREADS);
    for (int i = 0; i < 13; i++)
        CHECK_EQ(upc_threadof(&e[i]), i / 4 % THREADS);
    upc_forall (int i = 0; i < 13; i++; &e[i])
        e[i] = i;
    upc_barrier;
    for (int i = 0; i < 13; i++)
        CHECK_EQ(e[i], i);
    return check_failures;
}
