// What upc_blocksizeof and its like give stands where C needs constants (6.4.1): upc_localsizeof if THREADS is static.
#include "check.h"

shared [3] int a[7 * THREADS];
shared [] char together[5];
shared struct { double d[4]; } one;
typedef shared [2] short pairs[6 * THREADS];

shared [upc_blocksizeof(a)] int like[2 * upc_blocksizeof(a) * THREADS];
shared [upc_elemsizeof(pairs)] int by_size[upc_elemsizeof(one) * THREADS];
char bytes[upc_localsizeof(together)];
enum { BLOCK = upc_blocksizeof(a) };
_Static_assert(upc_elemsizeof(one) == 32, "of all elements");
#ifdef __UPC_STATIC_THREADS__
char local[upc_localsizeof(a)], twelve[upc_localsizeof(pairs)];
enum { ELEMENTS = upc_localsizeof(a) / sizeof(int) };
shared [ELEMENTS] int even[ELEMENTS * THREADS];
_Static_assert(upc_localsizeof(one) == 32, "on one thread");
#endif

int main(void)
{
    CHECK_EQ(upc_blocksizeof(like), 3);
    CHECK_EQ(upc_localsizeof(like), 24);
    CHECK_EQ(upc_blocksizeof(by_size), 2);
    CHECK_EQ(sizeof by_size, 128 * THREADS);
    CHECK_EQ(sizeof bytes, 5);
    switch (3) {
    case upc_blocksizeof(a):
        break;
    default:
        CHECK(BLOCK != 3);
    }
#ifdef __UPC_STATIC_THREADS__
    CHECK_EQ(sizeof local, 36);
    CHECK_EQ(sizeof twelve, 12);
    CHECK_EQ(upc_blocksizeof(even), 9);
    CHECK_EQ(sizeof local / sizeof(int), ELEMENTS);
    CHECK_EQ(upc_localsizeof(a), sizeof local);
#endif
    return check_failures;
}
