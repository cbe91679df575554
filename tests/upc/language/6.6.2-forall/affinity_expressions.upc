// Affinity may be any expression: of several variables, with a conditional, from a function.
#include "check.h"

shared int who[6 * THREADS];

static int owner(int i) { return i / 2; }

int main(void)
{
    upc_forall (int i = 0; i < 6 * THREADS; i++; i < 3 * THREADS ? owner(i) : THREADS - 1)
        who[i] += MYTHREAD + 1;
    upc_barrier;
    for (int i = 0; i < 6 * THREADS; i++)
        CHECK_EQ(who[i], (i < 3 * THREADS ? i / 2 % THREADS : THREADS - 1) + 1);
    return check_failures;
}
