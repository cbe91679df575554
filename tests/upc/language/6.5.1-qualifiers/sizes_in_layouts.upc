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

shared [] char rows[4][sizeof(struct packed)];
shared [sizeof(struct packed)] char blocks[sizeof(struct packed) * 4 * THREADS];
typedef shared [sizeof(struct of_two)] int in_twos[sizeof(struct of_two) * THREADS];
in_twos twos;

/* In a block that has other types of the same names, layouts stay those of the declarations. */
static void where_tags_are_hidden(void)
{
    shared [sizeof(struct packed)] char *p = blocks;
    for (int row = 0; MYTHREAD == 0 && row < 4; row++)
        for (int column = 0; column < 13; column++)
            rows[row][column] = 20 * row + column;
    blocks[3 * MYTHREAD + 13] = MYTHREAD;
    twos[MYTHREAD] = MYTHREAD;
    upc_barrier;
    {
        struct packed { char c[2]; } i = {{1, 2}};
        union of_two { double d[20]; } packed;
        shared [sizeof(struct packed)] char *q = (shared [sizeof(struct packed)] char *)&blocks[0];
        CHECK_EQ(rows[2][1] + 0 * i.c[0], 41);
        CHECK_EQ((*(rows + 3))[12], 72);
        CHECK_EQ(sizeof(rows), 4 * 13);
        CHECK_EQ(sizeof(packed), 160);
        CHECK_EQ(upc_blocksizeof(blocks), 13);
        CHECK_EQ(upc_threadof(p + 13), 1 % THREADS);
        CHECK_EQ(upc_threadof(&blocks[12]), 0);
        CHECK_EQ(upc_phaseof(p + 12), 12);
        CHECK_EQ(upc_phaseof(q + 1), 1);
        CHECK_EQ(upc_threadof(q + 2), 1 % THREADS);
        CHECK_EQ(blocks[3 * MYTHREAD + 13], MYTHREAD);
        CHECK_EQ(upc_blocksizeof(twos), 14);
        CHECK_EQ(twos[MYTHREAD], MYTHREAD);
        CHECK_EQ(upc_localsizeof(m), 2 * sizeof(int));
        static shared [sizeof(struct packed)] char here[sizeof(struct packed) * THREADS];
        CHECK_EQ(upc_blocksizeof(here), 2);
    }
}

int main(void)
{
    where_tags_are_hidden();
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
