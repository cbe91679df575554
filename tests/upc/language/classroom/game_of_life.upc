// Conway's game of life on a torus: a glider comes back to where it was, one field on, every four generations.
#include "check.h"

enum { SIZE = 12 };
shared [SIZE] unsigned char field[2][SIZE * THREADS][SIZE];

int main(void)
{
    static const int glider[5][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}};
    if (MYTHREAD == 0)
        for (int k = 0; k < 5; k++)
            field[0][glider[k][0]][glider[k][1]] = 1;
    upc_barrier;
    int now = 0;
    for (int generation = 0; generation < 16; generation++, now = !now) {
        upc_forall (int i = 0; i < SIZE; i++; &field[now][i][0])
            for (int j = 0; j < SIZE; j++) {
                int around = 0;
                for (int di = -1; di <= 1; di++)
                    for (int dj = -1; dj <= 1; dj++)
                        if (di || dj)
                            around += field[now][(i + di + SIZE) % SIZE][(j + dj + SIZE) % SIZE];
                field[!now][i][j] = around == 3 || (around == 2 && field[now][i][j]);
            }
        upc_barrier;
    }
    int alive = 0;
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            alive += field[now][i][j];
    CHECK_EQ(alive, 5);
    for (int k = 0; k < 5; k++)
        CHECK_EQ(field[now][glider[k][0] + 4][glider[k][1] + 4], 1);
    return check_failures;
}
