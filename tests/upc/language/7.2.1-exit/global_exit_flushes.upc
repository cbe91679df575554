// upc_global_exit flushes the streams (7.2.1).
// exit: 3
// expect: said before the end
#include <stdio.h>
#include <upc.h>

int main(void)
{
    upc_barrier;
    if (MYTHREAD == 0) {
        printf("said before the end");
        upc_global_exit(3);
    }
    for (;;)
        upc_barrier;
}
