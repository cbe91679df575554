// The longest Collatz sequence: each thread searches, the maximum is found by a reduction with a function of the program.
#include <upc_collective.h>
#include "check.h"

enum { LIMIT = 300 };
shared long best[THREADS];
shared long longest;

static int steps(long n)
{
    int count = 0;
    for (; n != 1; count++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return count;
}

/* length * 1000 - start: the longest one, of two the one that starts lower */
static long better(long a, long b) { return a > b ? a : b; }

int main(void)
{
    long mine = 0;
    upc_forall (int n = 1; n < LIMIT; n++; n)
        mine = better(mine, 1000l * steps(n) - n);
    best[MYTHREAD] = mine;
    upc_all_reduceL(&longest, best, UPC_FUNC, THREADS, 1, better, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    CHECK_EQ(longest, 1000 * 127 - 231);
    return check_failures;
}
