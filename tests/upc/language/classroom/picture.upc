// A picture whose rows are dealt cyclically; thread 0 prints it.
// expect: ......**......
// expect: .....****.....
#include <stdio.h>
#include <upc.h>

enum { W = 14, H = 2 };
shared [W] char picture[H * THREADS][W];

int main(void)
{
    upc_forall (int y = 0; y < H; y++; &picture[y][0])
        for (int x = 0; x < W; x++) {
            int distance = x < W / 2 ? W / 2 - 1 - x : x - W / 2;
            picture[y][x] = distance <= y ? '*' : '.';
        }
    upc_barrier;
    if (MYTHREAD == 0)
        for (int y = 0; y < H; y++) {
            for (int x = 0; x < W; x++)
                putchar(picture[y][x]);
            putchar('\n');
        }
    return 0;
}
