// Nesting is dynamic: a upc_forall in a function called from the body of another one does not divide (6.6.2).
#include "check.h"

shared int direct[THREADS], called[THREADS];

static int rounds(void)
{
    int turns = 0;
    upc_forall (int j = 0; j < 3 * THREADS; j++; j)
        turns++;
    return turns;
}

int main(void)
{
    CHECK_EQ(rounds(), 3);
    upc_forall (int i = 0; i < THREADS; i++; i)
        called[i] = rounds();
    CHECK_EQ(rounds(), 3);
    upc_forall (int i = 0; i < 2; i++; continue)
        direct[MYTHREAD] += rounds();
    upc_barrier;
    for (int t = 0; t < THREADS; t++) {
        CHECK_EQ(called[t], 3 * THREADS);
        CHECK_EQ(direct[t], 6);
    }
    return check_failures;
}
