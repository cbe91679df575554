/* Every statement, nested so that braces and the place of else matter. */
#include <stdio.h>

static int classify(int n)
{
    switch (n) {
    case 0:
        return 100;
    case 1: case 2:
        n += 10;
        /* fall through */
    case 3: {
        int k = n * 2;
        if (k > 10)
            return k;
        break;
    }
    case 10 ... 19:
        n = -n;
        break;
    default:
        if (n < 0)
            if (n < -10)
                n = -1;
            else
                n = -2;
        else
            n = 1;
    }
    return n;
}

static int duff(int count)
{
    int done = 0, rounds = (count + 3) / 4;
    switch (count % 4) {
    case 0: do { done++;
    case 3:      done++;
    case 2:      done++;
    case 1:      done++;
            } while (--rounds > 0);
    }
    return done;
}

static int find(int wanted)
{
    int i, j;
    for (i = 0; i < 5; i++)
        for (j = 0; j < 5; j++)
            if (i * j == wanted)
                goto found;
    return -1;
found:
    return i * 10 + j;
}

int main(void)
{
    int total = 0;
    for (int i = -12; i < 22; i += 1)
        total = total * 3 % 1000003 + classify(i);
    printf("%d %d %d %d\n", total, duff(7), duff(8), find(12));
    if (total) {
        if (total < 0)
            printf("negative\n");
    } else
        printf("zero\n");
    {
        int total = 3;
        for (;;) {
            if (!total--)
                break;
            { ; }
        }
        printf("%d\n", total);
    }
    do ; while (total-- > 1000);
    while (total-- > 500) { }
    printf("%d\n", total);
    return 0;
}
