// sizeof of shared objects: their whole size, over all threads; not constant where THREADS is dynamic (6.4.1).
#include "check.h"

shared int scalar;
shared [5] double blocked[10 * THREADS];
shared int cyclic[3 * THREADS];
shared [] char indefinite[11];
shared int *private_pointer;
shared struct { char c; int i; } record;

int main(void)
{
    CHECK_EQ(sizeof scalar, sizeof(int));
    CHECK_EQ(sizeof blocked, 10 * THREADS * sizeof(double));
    CHECK_EQ(sizeof(cyclic), 3 * THREADS * sizeof(int));
    CHECK_EQ(sizeof indefinite, 11);
    CHECK_EQ(sizeof cyclic[0], sizeof(int));
    CHECK_EQ(sizeof *private_pointer, sizeof(int));
    CHECK_EQ(sizeof record, 2 * sizeof(int));
    CHECK_EQ(sizeof(shared short), sizeof(short));
    CHECK_EQ(sizeof blocked / sizeof blocked[0], 10 * THREADS);
    return check_failures;
}
