// upc_memcpy: from shared to shared memory, each in one thread's memory (7.2.5).
#include <upc.h>
#include "check.h"

shared [16] char from[16 * THREADS], to[16 * THREADS];

int main(void)
{
    for (int i = 0; i < 16; i++)
        from[16 * MYTHREAD + i] = 'a' + MYTHREAD + i;
    upc_barrier;
    int next = (MYTHREAD + 1) % THREADS, other = (MYTHREAD + 2) % THREADS;
    upc_memcpy(&to[16 * next], &from[16 * other], 16);
    upc_barrier;
    int source = (MYTHREAD + 1) % THREADS;
    for (int i = 0; i < 16; i++)
        CHECK_EQ(to[16 * MYTHREAD + i], 'a' + source + i);
    return check_failures;
}
