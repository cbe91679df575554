// One file is strict by its header, the other relaxed: each file's default holds for its own accesses (6.7.1, 7.1).
// files: strict_file.upc
#include <upc_relaxed.h>
#include "check.h"

shared int data[THREADS], flag[THREADS];
void signal_next(void);
void wait_here(void);

int main(void)
{
    for (int round = 1; round < 5; round++) {
        data[(MYTHREAD + 1) % THREADS] = 10 * round + MYTHREAD;
        signal_next();
        wait_here();
        CHECK_EQ(data[MYTHREAD], 10 * round + (MYTHREAD + THREADS - 1) % THREADS);
        upc_barrier;
    }
    return check_failures;
}
