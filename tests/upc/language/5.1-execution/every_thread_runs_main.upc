// Every thread executes main (5.1.2.1).
#include "check.h"

shared int started[THREADS];

int main(void)
{
    started[MYTHREAD] = 1;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(started[t], 1);
    return check_failures;
}
