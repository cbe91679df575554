// upc_memset: the value, as unsigned char, into bytes of shared memory (7.2.5).
#include <upc.h>
#include "check.h"

shared [8] unsigned char a[16 * THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS;
    upc_memset(&a[8 * next], 0x1ff, 8);
    upc_memset(&a[8 * next + 2], 7, 3);
    upc_memset(&a[8 * next], 1, 0);
    upc_barrier;
    for (int i = 0; i < 8; i++)
        CHECK_EQ(a[8 * MYTHREAD + i], 2 <= i && i < 5 ? 7 : 0xff);
    for (int i = 8 * THREADS; i < 16 * THREADS; i++)
        CHECK_EQ(a[i], 0);
    return check_failures;
}
