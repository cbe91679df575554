// C = A B: A and C by rows, B by columns.
#include "check.h"

enum { P = 4, M = 5 };
#define N (3 * THREADS)
shared [P] int A[3 * THREADS][P];
shared [M] int C[3 * THREADS][M];
shared int B[P][M * THREADS];

int main(void)
{
    upc_forall (int i = 0; i < N; i++; &A[i][0])
        for (int k = 0; k < P; k++)
            A[i][k] = i + k;
    if (MYTHREAD == 0)
        for (int k = 0; k < P; k++)
            for (int j = 0; j < M; j++)
                B[k][j] = k * j + 1;
    upc_barrier;
    upc_forall (int i = 0; i < N; i++; &C[i][0])
        for (int j = 0; j < M; j++) {
            C[i][j] = 0;
            for (int k = 0; k < P; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
    upc_barrier;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            int sum = 0;
            for (int k = 0; k < P; k++)
                sum += (i + k) * (k * j + 1);
            CHECK_EQ(C[i][j], sum);
        }
    return check_failures;
}
