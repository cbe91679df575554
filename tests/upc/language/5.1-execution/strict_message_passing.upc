// What a thread wrote before a strict write is seen by a thread that read the strict value (5.1.2.3).
#include "check.h"

relaxed shared int data[THREADS];
strict shared int ready[THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS;
    for (int round = 1; round <= 10; round++) {
        data[next] = round * 10 + MYTHREAD;
        ready[next] = round;
        while (ready[MYTHREAD] != round)
            ;
        CHECK_EQ(data[MYTHREAD], round * 10 + (MYTHREAD + THREADS - 1) % THREADS);
        upc_barrier;
    }
    return check_failures;
}
