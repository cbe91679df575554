// Inline assembly with operands goes through as it is.
#include "check.h"

shared int a[THREADS];

int main(void)
{
    int x = 40 + MYTHREAD, y;
    __asm__ volatile("" : "=r"(y) : "0"(x) : "memory");
    asm volatile("" ::: "memory");
    a[MYTHREAD] = y;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(a[t], 40 + t);
    return check_failures;
}
