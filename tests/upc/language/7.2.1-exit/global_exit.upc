// upc_global_exit ends all threads with the status given, also those that wait (7.2.1).
// exit: 7
#include <upc.h>

int main(void)
{
    if (MYTHREAD == THREADS - 1)
        upc_global_exit(7);
    upc_barrier;
    upc_barrier;
    for (;;)
        upc_barrier;
}
