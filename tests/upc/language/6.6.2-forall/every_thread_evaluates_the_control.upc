// All threads evaluate the first expression, the conditions, the steps and the affinity; the body alone is divided (6.6.2).
#include "check.h"

static int starts, tests, steps, affinities, bodies;

int main(void)
{
    int i;
    upc_forall (i = (starts++, 0); tests++, i < 2 * THREADS; steps++, i++; (affinities++, i))
        bodies++;
    CHECK_EQ(i, 2 * THREADS);
    CHECK_EQ(starts, 1);
    CHECK_EQ(tests, 2 * THREADS + 1);
    CHECK_EQ(steps, 2 * THREADS);
    CHECK_EQ(affinities, 2 * THREADS);
    CHECK_EQ(bodies, 2);
    return check_failures;
}
