// One past the last element is a valid pointer value, from either side (C99 6.5.6).
#include "check.h"

shared [4] int a[4 * THREADS];

int main(void)
{
    shared [4] int *end = &a[4 * THREADS - 1] + 1;
    CHECK(end == a + 4 * THREADS);
    CHECK_EQ(end - a, 4 * THREADS);
    CHECK(end - 1 == &a[4 * THREADS - 1]);
    CHECK(a < end && end > &a[4 * THREADS - 1]);
    return check_failures;
}
