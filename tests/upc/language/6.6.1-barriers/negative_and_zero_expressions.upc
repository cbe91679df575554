// The expression is an int: zero and negative values are values like others, expressions of other types convert (6.6.1).
#include <limits.h>
#include "check.h"

int main(void)
{
    upc_barrier 0;
    upc_barrier -1;
    upc_barrier INT_MIN;
    upc_barrier INT_MAX;
    upc_barrier 'a';
    upc_barrier 12L;
    short s = -3;
    upc_barrier s;
    upc_notify -7;
    upc_wait -7;
    CHECK(THREADS > 0);
    return check_failures;
}
