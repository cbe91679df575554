// UPC_FUNC: a commutative function; UPC_NONCOMM_FUNC: an associative one, applied in order (7.3.4).
#include <upc_collective.h>
#include "check.h"

shared [2] int a[4 * THREADS];
shared int result;

static int larger_digit_sum(int a, int b)
{
    int da = a % 10 + a / 10, db = b % 10 + b / 10;
    return da > db || (da == db && a > b) ? a : b;
}

static int leftmost(int a, int b) { return b == 0 || a != 0 ? a : b; }
static int last(int a, int b) { return b != 0 || a == 0 ? b : a; }

static int reduced(upc_op_t op, int (*function)(int, int))
{
    upc_all_reduceI(&result, a, op, 4 * THREADS, 2, function, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    int value = result;
    upc_barrier;
    return value;
}

int main(void)
{
    upc_forall (int i = 0; i < 4 * THREADS; i++; &a[i])
        a[i] = 10 + i;
    int best = 10;
    for (int i = 1; i < 4 * THREADS; i++)
        best = larger_digit_sum(best, 10 + i);
    CHECK_EQ(reduced(UPC_FUNC, larger_digit_sum), best);
    CHECK_EQ(reduced(UPC_NONCOMM_FUNC, leftmost), 10);
    CHECK_EQ(reduced(UPC_NONCOMM_FUNC, last), 10 + 4 * THREADS - 1);
    return check_failures;
}
