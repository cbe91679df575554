// Relaxed accesses on either side of a barrier are ordered for all threads (5.1.2.3, 6.6.1).
#include "check.h"

shared int slot[THREADS];

int main(void)
{
    for (int round = 1; round <= 20; round++) {
        slot[(MYTHREAD + round) % THREADS] = round * 100 + MYTHREAD;
        upc_barrier;
        int writer = ((MYTHREAD - round) % THREADS + THREADS) % THREADS;
        CHECK_EQ(slot[MYTHREAD], round * 100 + writer);
        int next = (MYTHREAD + 1) % THREADS;
        CHECK_EQ(slot[next], round * 100 + ((next - round) % THREADS + THREADS) % THREADS);
        upc_barrier;
    }
    return check_failures;
}
