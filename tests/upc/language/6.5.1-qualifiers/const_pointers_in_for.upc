// What a for declares beside a const pointer to shared is not const.
#include "check.h"

shared int a[5 * THREADS];

int main(void)
{
    int steps = 0, sum = 0;
    for (shared int *const end = a + 5 * THREADS, *p = a; p < end; p++)
        steps++;
    CHECK_EQ(steps, 5 * THREADS);
    upc_forall (shared int *volatile p = a, *const end = a + 5 * THREADS, **at = (shared int **) &p; *at < end; ++*at; p)
        sum++;
    CHECK_EQ(sum, 5);
    return check_failures;
}
