// Rows of shared arrays as parameters: shared [B] T (*)[N] (C99 6.7.5.3).
#include "check.h"

enum { N = 4 };
shared [N] int m[2 * THREADS][N];

static int trace(shared [N] int (*rows)[N], int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += rows[i][i % N];
    return sum;
}

static int row_sum(shared [N] int *row)
{
    int sum = 0;
    for (int j = 0; j < N; j++)
        sum += row[j];
    return sum;
}

static void fill(shared [N] int rows[][N], int from, int to)
{
    upc_forall (int i = from; i < to; i++; &rows[i][0])
        for (int j = 0; j < N; j++)
            rows[i][j] = 10 * i + j;
}

int main(void)
{
    int n = 2 * THREADS, expected = 0;
    fill(m, 0, n);
    upc_barrier;
    for (int i = 0; i < n; i++)
        expected += 10 * i + i % N;
    CHECK_EQ(trace(m, n), expected);
    CHECK_EQ(trace(m + 1, 1), 10);
    CHECK_EQ(trace(&m[n - 1], 1), 10 * (n - 1));
    CHECK_EQ(row_sum(m[1]), 46);
    CHECK_EQ(row_sum(*(m + 1)), 46);
    CHECK_EQ(row_sum(&m[0][0] + N), 46);
    return check_failures;
}
