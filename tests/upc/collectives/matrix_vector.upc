/* Power iteration: rows of a matrix on all threads, the vector at each of them by gather_all and broadcast, norms by reduction. */
#include <math.h>
#include <stdio.h>
#include <upc_relaxed.h>
#include <upc_collective.h>

#define ROWS 6                 /* of each thread */
#define N (ROWS * THREADS)

shared [ROWS] double part[N]; /* each thread's part of the vector */
shared double squares[THREADS], norms[THREADS], norm;

static double entry(int i, int j) { return i == j ? 2.0 + i % 3 : 1.0 / (1 + (i > j ? i - j : j - i)); }

int main(void)
{
    shared char *vector = upc_all_alloc(THREADS, sizeof(double) * N); /* the whole vector, at each thread */
    double (*rows)[N] = (double (*)[N])upc_alloc(sizeof(double) * N * ROWS);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < N; j++)
            rows[i][j] = entry(MYTHREAD * ROWS + i, j);
    double serial[N], next[N], length = 0;
    for (int i = 0; i < N; i++)
        serial[i] = 1;
    for (int i = 0; i < ROWS; i++)
        part[MYTHREAD * ROWS + i] = 1;

    for (int step = 0; step < 8; step++) {
        upc_all_gather_all(vector, part, sizeof(double) * ROWS, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
        const double *x = (const double *)&vector[MYTHREAD];
        double *y = (double *)&part[MYTHREAD * ROWS], square = 0;
        for (int i = 0; i < ROWS; i++) {
            y[i] = 0;
            for (int j = 0; j < N; j++)
                y[i] += rows[i][j] * x[j];
            square += y[i] * y[i];
        }
        squares[MYTHREAD] = square;
        upc_all_reduceD(&norm, squares, UPC_ADD, THREADS, 1, NULL, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
        upc_all_broadcast(norms, &norm, sizeof(double), UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
        for (int i = 0; i < ROWS; i++)
            y[i] /= sqrt(norms[MYTHREAD]);

        length = 0;
        for (int i = 0; i < N; i++) {
            next[i] = 0;
            for (int j = 0; j < N; j++)
                next[i] += entry(i, j) * serial[j];
            length += next[i] * next[i];
        }
        for (int i = 0; i < N; i++)
            serial[i] = next[i] / sqrt(length);
    }
    upc_barrier;
    for (int i = 0; i < N; i++)
        if (fabs(part[i] - serial[i]) > 1e-12)
            return 1;
    if (fabs(norms[(MYTHREAD + 1) % THREADS] - length) > 1e-9 * length)
        return 2;
    upc_barrier;
    if (!MYTHREAD)
        printf("ok %d\n", N);
    return 0;
}
