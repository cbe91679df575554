// Private arrays of variable length, of THREADS elements and by parameters (C99 6.7.5.2).
#include "check.h"

shared int a[4 * THREADS];

// Prototypes, too, have sizes by the names of parameters.
static int sum(int rows, int columns, int m[rows][columns]);
static int first(int columns, int (*m)[columns], shared int *p);
typedef int reader(int columns, int (*m)[columns], shared int *p);

static int sum(int rows, int columns, int m[rows][columns])
{
    int total = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            total += m[i][j];
    return total;
}

static int first(int columns, int (*m)[columns], shared int *p)
{
    return m[1][0] * 1000 + (int)(sizeof m[0] / sizeof(int)) + *p;
}

static int (*summed)(int rows, int columns, int m[*][*]) = sum;
static int (*shared readers[THREADS])(int columns, int (*m)[columns], shared int *p);

static int read_by(reader *read, int columns, int m[][columns])
{
    return read(columns, m, &a[1]);
}

int main(void)
{
    upc_forall (int i = 0; i < 4 * THREADS; i++; &a[i])
        a[i] = i;
    upc_barrier;
    int copy[THREADS][4], n = 4 * THREADS;
    for (int i = 0; i < n; i++)
        copy[i / 4][i % 4] = a[i];
    CHECK_EQ(sum(THREADS, 4, copy), n * (n - 1) / 2);
    CHECK_EQ(summed(THREADS, 4, copy), n * (n - 1) / 2);
    int pair[2][4] = {{0}, {5}};
    CHECK_EQ(read_by(first, 4, pair), 5000 + 4 + a[1]);
    readers[MYTHREAD] = first;
    CHECK_EQ(readers[MYTHREAD](4, pair, a), 5000 + 4 + a[0]);
    shared int *list[n];
    for (int i = 0; i < n; i++)
        list[i] = &a[n - 1 - i];
    CHECK_EQ(*list[0], n - 1);
    CHECK_EQ(sizeof list, n * sizeof(shared int *));
    return check_failures;
}
