// With a pointer to shared as affinity, iterations run on the thread it points to (6.6.2).
#include <upc.h>
#include "check.h"

shared [3] int a[6 * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < 6 * THREADS; i++; &a[i]) {
        CHECK_EQ(upc_threadof(&a[i]), MYTHREAD);
        a[i] += MYTHREAD + 1;
    }
    upc_barrier;
    for (int i = 0; i < 6 * THREADS; i++)
        CHECK_EQ(a[i], i / 3 % THREADS + 1);
    return check_failures;
}
