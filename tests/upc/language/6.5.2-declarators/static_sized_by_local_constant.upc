// The size of a static shared array in a function may come from a constant of that function (6.5.2).
#include "check.h"

static int filled(int thread)
{
    enum { ROWS = 3, EACH = sizeof(long) };
    static shared int a[ROWS * THREADS], b[2][THREADS * (ROWS + 1)];
    static shared [EACH] int c[EACH * THREADS];
    {
        enum { ROWS = 5 };
        static shared int a[ROWS * THREADS];
        a[4 * THREADS + thread] = 10;
        b[1][4 * THREADS - 1 - thread] = a[4 * THREADS + thread] + ROWS;
        CHECK_EQ(sizeof a, ROWS * THREADS * sizeof(int));
    }
    a[2 * THREADS + thread] = 7;
    c[EACH * thread + 7] = a[2 * THREADS + thread];
    CHECK_EQ(upc_threadof(&c[EACH * thread + 7]), thread);
    CHECK_EQ(sizeof a, 3 * THREADS * sizeof(int));
    return b[1][4 * THREADS - 1 - thread] + c[EACH * thread + 7];
}

int main(void)
{
    CHECK_EQ(filled((MYTHREAD + 1) % THREADS), 22);
    return check_failures;
}
