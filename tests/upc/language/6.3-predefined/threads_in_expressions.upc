// THREADS and MYTHREAD are expressions like any other: conditions, arguments, array sizes of automatic arrays, case by value.
#include "check.h"

static int twice(int n) { return 2 * n; }

int main(void)
{
    int counts[THREADS + 1];
    for (int t = 0; t <= THREADS; t++)
        counts[t] = twice(t);
    CHECK_EQ(counts[THREADS], THREADS + THREADS);
    CHECK_EQ(twice(MYTHREAD), MYTHREAD << 1);
    CHECK_EQ(sizeof counts / sizeof counts[0], THREADS + 1);
    CHECK_EQ(-MYTHREAD + MYTHREAD, 0);
    int last = MYTHREAD == THREADS - 1 ? 1 : 0;
    switch (THREADS - MYTHREAD) {
    case 1:
        CHECK(last);
        break;
    default:
        CHECK(!last);
    }
    return check_failures;
}
