// upc_all_prefix_reduce applies a function that is not commutative in the order of the elements (7.3.4).
#include <upc_collective.h>
#include "check.h"

shared [2] unsigned from[6 * THREADS], to[6 * THREADS];

/* Composition of the maps x -> a x + b modulo 251, packed as a * 256 + b: associative, not commutative. */
static unsigned compose(unsigned f, unsigned g)
{
    unsigned a = f / 256, b = f % 256, c = g / 256, d = g % 256;
    return (a * c % 251) * 256 + (c * b + d) % 251;
}

int main(void)
{
    upc_forall (int i = 0; i < 6 * THREADS; i++; &from[i])
        from[i] = (i % 7 + 2) * 256 + (i * 5 + 1) % 251;
    upc_all_prefix_reduceUI(to, from, UPC_NONCOMM_FUNC, 6 * THREADS, 2, compose, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    unsigned expected = from[0];
    CHECK_EQ(to[0], expected);
    for (int i = 1; i < 6 * THREADS; i++) {
        expected = compose(expected, from[i]);
        CHECK_EQ(to[i], expected);
    }
    return check_failures;
}
