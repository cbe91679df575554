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
typedef char line[24] __attribute__((aligned(32)));
typedef line same_line;
struct of_lines { char c; same_line l; };
typedef int *__attribute__((aligned(32))) far_pointer;
struct of_pointers { char c; far_pointer p; };
enum __attribute__((packed)) before { IS_BEFORE };
enum after { IS_AFTER } __attribute__((packed));
struct of_small { enum before b; enum after a; };
enum large { IS_LARGE = 1LL << 40 };
enum of_both { IS_NEGATIVE = -1, IS_UNSIGNED = 0xffffffff };
enum of_unsigned { IS_ONLY_UNSIGNED = 0xffffffff };
struct of_rows { char rows[4][sizeof(enum before) + 1]; char tail; };
typedef char small_row[sizeof(enum after) + 1];

shared [sizeof(struct packed)] int a[THREADS];
shared [sizeof(struct of_two)] int b[THREADS];
shared [sizeof(struct plain)] int c[THREADS];
shared [sizeof(struct member)] int d[THREADS];
shared [sizeof(struct aligned_as)] int e[THREADS];
shared [sizeof(struct packed_member)] int f[THREADS];
shared [sizeof(two_words)] int g[THREADS];
shared [sizeof(four)] int h[THREADS];
shared [sizeof(struct apart)] int k[THREADS];
shared [sizeof(struct of_lines)] char lines[sizeof(struct of_lines) * THREADS];
shared [sizeof(struct of_pointers)] int pointers[THREADS];
shared [sizeof(struct of_small)] int of_small[sizeof(enum after) * THREADS];
shared [sizeof(enum large)] int large[THREADS];
shared [sizeof(enum of_both)] int of_both[THREADS];
shared [sizeof(enum of_unsigned)] int of_unsigned[THREADS];
shared struct of_rows of_rows[THREADS];
shared [] small_row small_rows[3];
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

static void what_changes_a_type(void)
{
    CHECK_EQ(upc_blocksizeof(lines), sizeof(struct of_lines));
    CHECK_EQ(upc_localsizeof(lines), sizeof(struct of_lines));
    CHECK_EQ(upc_blocksizeof(pointers), sizeof(struct of_pointers));
    CHECK_EQ(upc_blocksizeof(of_small), 2);
    CHECK_EQ(upc_localsizeof(of_small), 2 * sizeof(int));
    CHECK_EQ(upc_blocksizeof(large), sizeof(enum large));
    CHECK_EQ(upc_blocksizeof(of_both), sizeof(enum of_both));
    CHECK_EQ(upc_blocksizeof(of_unsigned), 4);
    int next = (MYTHREAD + 1) % THREADS;
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 2; column++)
            of_rows[next].rows[row][column] = 10 * row + column;
    of_rows[next].tail = 99;
    for (int row = 0; MYTHREAD == 0 && row < 3; row++)
        small_rows[row][1] = row + 5;
    upc_barrier;
    struct of_rows mine = of_rows[MYTHREAD];
    for (int i = 0; i < 8; i++)
        CHECK_EQ(mine.rows[i / 2][i % 2], 10 * (i / 2) + i % 2);
    CHECK_EQ(mine.tail, 99);
    CHECK_EQ(sizeof(of_rows[0].rows), 8);
    CHECK_EQ(sizeof(small_rows), 6);
    CHECK_EQ(small_rows[2][1], 7);
    CHECK_EQ(upc_addrfield(&small_rows[2][1]) - upc_addrfield(small_rows), 5);
}

int main(void)
{
    what_changes_a_type();
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
