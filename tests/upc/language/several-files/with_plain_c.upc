// Plain C files among the sources: functions both ways, on private data.
// files: with_plain_c_sum.c
#include <upc.h>
#include "check.h"

double weighted_sum(const double *values, int count, double (*weight)(int));

shared [4] double a[4 * THREADS];

static double weight(int i) { return i + MYTHREAD; }
int called_from_c(int x) { return x * 2 + THREADS * 0; }

int main(void)
{
    upc_forall (int i = 0; i < 4 * THREADS; i++; &a[i])
        a[i] = i;
    upc_barrier;
    double copy[4];
    upc_memget(copy, &a[4 * ((MYTHREAD + 1) % THREADS)], sizeof copy);
    double expected = 0;
    for (int i = 0; i < 4; i++)
        expected += copy[i] * (i + MYTHREAD);
    CHECK(weighted_sum(copy, 4, weight) == 2 * expected);
    CHECK(weighted_sum((double *)&a[4 * MYTHREAD], 1, weight) == 2 * a[4 * MYTHREAD] * MYTHREAD);
    return check_failures;
}
