// A layout with sizeof has the C compiler's size, whatever pragmas and attributes say of the type.
#include <stddef.h>
#include "check.h"

#pragma pack(push, 1)
static int i;
struct packed { char c; int i; double d; };
#pragma pack(2)
struct of_two { char c; int i; double d; };
#pragma pack(pop)
struct plain { char c; int i; double d; };
struct member { char c; int i __attribute__((aligned(16))); };
struct aligned_as { char c; _Alignas(32) int i; };
struct packed_member { char c; int i __attribute__((packed)); };
typedef int two_words __attribute__((mode(DI)));
typedef int four __attribute__((vector_size(16)));
typedef int far_apart __attribute__((aligned(32)));
struct apart { char c; far_apart i; };

shared [sizeof(struct packed)] int a[THREADS];
shared [sizeof(struct of_two)] int b[THREADS];
shared [sizeof(struct plain)] int c[THREADS];
shared [sizeof(struct member)] int d[THREADS];
shared [sizeof(struct aligned_as)] int e[THREADS];
shared [sizeof(struct packed_member)] int f[THREADS];
shared [sizeof(two_words)] int g[THREADS];
shared [sizeof(four)] int h[THREADS];
shared [sizeof(struct apart)] int k[THREADS];
shared [offsetof(struct of_two, i)] int m[offsetof(struct of_two, i) * THREADS];

int main(void)
{
    CHECK_EQ(upc_blocksizeof(a), 13);
    CHECK_EQ(upc_blocksizeof(b), 14);
    CHECK_EQ(upc_blocksizeof(c), sizeof(struct plain));
    CHECK_EQ(upc_blocksizeof(d), sizeof(struct member));
    CHECK_EQ(upc_blocksizeof(e), sizeof(struct aligned_as));
    CHECK_EQ(upc_blocksizeof(f), 5);
    CHECK_EQ(upc_blocksizeof(g), 8);
    CHECK_EQ(upc_blocksizeof(h), 16);
    CHECK_EQ(upc_blocksizeof(k), sizeof(struct apart));
    CHECK_EQ(upc_blocksizeof(m) + i, 2);
    CHECK_EQ(upc_localsizeof(m), 2 * sizeof(int));
    return check_failures;
}
