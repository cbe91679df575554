// upc_memput: from private to shared memory (7.2.5).
#include <upc.h>
#include "check.h"

shared [10] int a[10 * THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS;
    int values[10];
    for (int i = 0; i < 10; i++)
        values[i] = 50 * MYTHREAD + i;
    upc_memput(&a[10 * next], values, sizeof values);
    values[0] = -1;
    upc_memput(&a[10 * next + 9], values, sizeof(int));
    CHECK_EQ(a[10 * next + 9], -1);
    upc_barrier;
    int writer = (MYTHREAD + THREADS - 1) % THREADS;
    for (int i = 0; i < 9; i++)
        CHECK_EQ(a[10 * MYTHREAD + i], 50 * writer + i);
    CHECK_EQ(a[10 * MYTHREAD + 9], -1);
    return check_failures;
}
