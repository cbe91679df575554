// Private arrays of variable length, of THREADS elements and by parameters (C99 6.7.5.2).
#include "check.h"

shared int a[4 * THREADS];

static int sum(int rows, int columns, int m[rows][columns])
{
    int total = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            total += m[i][j];
    return total;
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
    shared int *list[n];
    for (int i = 0; i < n; i++)
        list[i] = &a[n - 1 - i];
    CHECK_EQ(*list[0], n - 1);
    CHECK_EQ(sizeof list, n * sizeof(shared int *));
    return check_failures;
}
