// An array within a shared structure decays to a pointer of indefinite block size: all of it lies with one thread (6.4.4).
#include <upc.h>
#include "check.h"

struct record { int id; int list[4]; };
shared struct record a[THREADS];

int main(void)
{
    shared [] int *p = a[MYTHREAD].list;
    for (int i = 0; i < 4; i++)
        p[i] = 10 * MYTHREAD + i;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < 4; i++) {
            CHECK_EQ(a[t].list[i], 10 * t + i);
            CHECK_EQ(upc_threadof(&a[t].list[i]), t);
        }
    return check_failures;
}
