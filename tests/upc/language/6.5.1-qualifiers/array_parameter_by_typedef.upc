// A parameter that a typedef declares as a shared array is a pointer-to-shared, as one that is written out is (C11 6.7.6.3).
#include "check.h"

typedef shared [] int row[4];
typedef shared int vector[10 * THREADS];
typedef shared [2] int table[3 * THREADS][2];

shared [] int all[3][4];
vector v;
table t;

static int of_row(row r)
{
    r++;
    return r[-1] + *r;
}
static int of_vector(const vector w, int at) { return (w + at)[0]; }
static int of_table(table u, int at) { return u[at][1]; }
static int old_style(r, at) row r; int at; { return r[at]; }
static int prototype(row, vector, row (*)[2]);
static int prototype(row r, vector w, row (*rows)[2])
{
    CHECK_EQ(sizeof r, sizeof w);
    return r[0] + w[0] + upc_blocksizeof(*r) + (rows == NULL);
}
static int (*pointer)(row) = of_row;
struct functions {
    int (*of)(vector, int);
};

int main(void)
{
    struct functions f = {of_vector};
    if (MYTHREAD == 0)
        for (int i = 0; i < 12; i++)
            all[i / 4][i % 4] = i;
    v[MYTHREAD] = 100 + MYTHREAD;
    t[MYTHREAD][1] = 200 + MYTHREAD;
    upc_barrier;
    CHECK_EQ(of_row(all[1]), 9);
    CHECK_EQ(pointer(all[2]), 17);
    CHECK_EQ(f.of(v, THREADS - 1), 99 + THREADS);
    CHECK_EQ(of_table(t, THREADS - 1), 199 + THREADS);
    CHECK_EQ(old_style(all[2], 3), 11);
    CHECK_EQ(prototype(all[1], v, NULL), 105);
    CHECK_EQ(((int (*)(row))of_row)(all[0]), 1);
    return check_failures;
}
