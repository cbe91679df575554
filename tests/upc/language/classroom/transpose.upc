// A matrix is transposed: rows become columns, by elements and by blocks.
#include <upc.h>
#include "check.h"

enum { B = 3 };
#define N (B * THREADS)
shared [B] int from[B * THREADS][B], to[B * THREADS][B];

int main(void)
{
    upc_forall (int i = 0; i < N; i++; &from[i][0])
        for (int j = 0; j < B; j++)
            from[i][j] = 100 * i + j;
    upc_barrier;
    for (int t = 0; t < THREADS; t++) {
        int tile[B][B];
        upc_forall (int k = 0; k < 1; k++; t)
            for (int r = 0; r < B; r++) {
                int row = B * ((t + 1) % THREADS) + r;
                upc_memget(tile[r], &from[row][0], sizeof tile[r]);
                for (int c = 0; c < B; c++)
                    to[B * t + c][r] = tile[r][c];
            }
    }
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        for (int r = 0; r < B; r++)
            for (int c = 0; c < B; c++)
                CHECK_EQ(to[B * t + c][r], 100 * (B * ((t + 1) % THREADS) + r) + c);
    return check_failures;
}
