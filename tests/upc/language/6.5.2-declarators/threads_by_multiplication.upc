// THREADS multiplied by integer constants, on either side, in parentheses, by macros and enumerations (6.5.2.1).
#include "check.h"

#define PER_THREAD 4
enum { ROWS = 2 };
shared int a[THREADS * 2];
shared int b[3 * THREADS * 2];
shared int c[(THREADS)];
shared int d[PER_THREAD * (THREADS)];
shared int e[ROWS * THREADS][PER_THREAD];

int main(void)
{
    CHECK_EQ(sizeof a, 2 * THREADS * sizeof(int));
    CHECK_EQ(sizeof b, 6 * THREADS * sizeof(int));
    CHECK_EQ(sizeof c, THREADS * sizeof(int));
    CHECK_EQ(sizeof d, 4 * THREADS * sizeof(int));
    CHECK_EQ(sizeof e, 8 * THREADS * sizeof(int));
    a[2 * THREADS - 1] = b[6 * THREADS - 1] = c[THREADS - 1] = d[4 * THREADS - 1] = e[2 * THREADS - 1][3] = 6;
    CHECK_EQ(a[2 * THREADS - 1], 6);
    return check_failures;
}
