// The barrier statements are statements: bodies of if, else, for, while, do, switch, labels.
#include "check.h"

shared int n;

int main(void)
{
    int turns = 0;
    if (THREADS > 0)
        upc_barrier;
    else
        upc_fence;
    for (int i = 0; i < 3; i++)
        upc_barrier;
    while (turns++ < 2)
        upc_barrier turns;
    do
        upc_fence;
    while (turns++ < 5);
    switch (THREADS) {
    default:
        upc_notify;
        upc_wait;
    }
    goto last;
last:
    upc_barrier;
    CHECK_EQ(n, 0);
    return check_failures;
}
