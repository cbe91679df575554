// p - i is p + -i, also over block and thread boundaries (6.4.2).
#include "check.h"

shared [4] double a[12 * THREADS];

int main(void)
{
    shared [4] double *end = a + 12 * THREADS;
    for (int i = 1; i <= 12 * THREADS; i++) {
        CHECK(end - i == &a[12 * THREADS - i]);
        CHECK(end + -i == &a[12 * THREADS - i]);
    }
    shared [4] double *p = end;
    for (int i = 12 * THREADS - 1; i >= 0; i--)
        CHECK(--p == &a[i]);
    return check_failures;
}
