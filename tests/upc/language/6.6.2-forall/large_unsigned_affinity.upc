// An unsigned affinity above the largest signed value is not negative (6.6.2).
#include "check.h"

shared int turns[THREADS];

int main(void)
{
    unsigned long start = ~0ul - 20;
    upc_forall (int i = 0; i < 20; i++; start + i) {
        CHECK_EQ((start + i) % THREADS, MYTHREAD);
        turns[MYTHREAD]++;
    }
    upc_barrier;
    int all = 0;
    for (int t = 0; t < THREADS; t++)
        all += turns[t];
    CHECK_EQ(all, 20);
    return check_failures;
}
