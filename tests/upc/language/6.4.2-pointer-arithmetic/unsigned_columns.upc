// A step that follows an unsigned subscript of a row is counted as all steps are: by ptrdiff_t (6.4.2).
#include <upc.h>
#include "check.h"

shared int m[4 * THREADS][10];

static void columns(shared int (*p)[10], unsigned u)
{
    CHECK(&p[1][u] - 20 == &p[-1][u]);
    CHECK(&p[1][2u] + -15 == &p[0][0] - 3);
    CHECK_EQ(*(p[1] + u - 20), 12);
}

int main(void)
{
    upc_forall (int i = 0; i < 10; i++; &m[1][i])
        m[1][i] = 10 + i;
    upc_barrier;
    columns(&m[2], 2);
    return check_failures;
}
