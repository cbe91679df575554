// The condition of upc_forall is evaluated once an iteration, whatever is in it: a bound behind a cast too.
#include "check.h"

static int calls;
static double bound(void) { calls++; return 6; }
static int numbers[] = {7, 7, 7, 7, 7, 7, 7, 7, 7};
static volatile int fixed = 5;

int main(void)
{
    int i, n = 12, *p = numbers, rounds = 0;
    double limit = 9.5;
    upc_forall (i = 0; i < (int) bound(); i++; i)
        rounds++;
    CHECK_EQ(calls, 7);
    upc_forall (i = 0; i < (int) n--; i++; i)
        rounds++;
    CHECK_EQ(i, 6);
    CHECK_EQ(n, 5);
    upc_forall (i = 0; i < (long) *p++; i++; i)
        rounds++;
    CHECK_EQ(p - numbers, 8);
    upc_forall (i = 0; i < (int) (short) (char) fixed; i++; i)
        rounds++;
    CHECK_EQ(i, 5);
    upc_forall (i = 0; i < (int) limit; i++; i)
        rounds++;
    CHECK_EQ(i, 9);
    return check_failures;
}
