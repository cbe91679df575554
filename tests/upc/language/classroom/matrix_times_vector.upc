// y = A x with rows in blocks.
#include "check.h"

enum { N = 6 };
shared [N] double A[N * THREADS][N];
shared double x[N * THREADS];
shared double y[N * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < N * THREADS; i++; &A[i][0]) {
        for (int j = 0; j < N; j++)
            A[i][j] = i + 0.5 * j;
    }
    upc_forall (int j = 0; j < N; j++; &x[j])
        x[j] = j + 1;
    upc_barrier;
    upc_forall (int i = 0; i < N * THREADS; i++; &A[i][0]) {
        double sum = 0;
        for (int j = 0; j < N; j++)
            sum += A[i][j] * x[j];
        y[i] = sum;
    }
    upc_barrier;
    for (int i = 0; i < N * THREADS; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++)
            sum += (i + 0.5 * j) * (j + 1);
        CHECK(y[i] == sum);
    }
    return check_failures;
}
