// Side effects in subscripts, operands and arguments happen once (C99 6.5).
#include "check.h"

shared [3] int a[6 * THREADS];
static int calls;

static int next(void) { return calls++; }
static shared [3] int *where(void) { calls += 100; return a; }

int main(void)
{
    upc_barrier;
    if (MYTHREAD == 0) {
        for (int i = 0; i < 6; )
            a[i++] = 10;
        int i = 0;
        a[i++] += 5;
        CHECK_EQ(i, 1);
        a[i++]++;
        CHECK_EQ(i, 2);
        --a[++i];
        CHECK_EQ(i, 3);
        a[next()] -= 1;
        CHECK_EQ(calls, 1);
        where()[next()] *= 2;
        CHECK_EQ(calls, 102);
        where()[next()]++;
        CHECK_EQ(calls, 203);
        *where() = next();
        CHECK_EQ(calls, 304);
        shared [3] int *p = a;
        *p++ += 1;
        *p++ ^= 1;
        CHECK(p == a + 2);
        a[i] = a[i - 1] = 7;
        CHECK(a[3] == 7 && a[2] == 7);
    }
    return check_failures;
}
