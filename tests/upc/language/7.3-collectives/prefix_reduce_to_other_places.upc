// upc_all_prefix_reduceT where src and dst begin at different phases and threads (7.3.2).
#include <upc.h>
#include <upc_collective.h>
#include "check.h"

#define EACH 7

shared int one[EACH * THREADS], sums[EACH * THREADS];
shared [3] int three[2 * 3 * THREADS], maps[2 * 3 * THREADS];

/* x -> a x + b, modulo 251, as 256 a + b: what comes first is applied first, so the order counts. */
int compose(int first, int then)
{
    int a = (then / 256) * (first / 256) % 251, b = ((then / 256) * (first % 256) + then % 256) % 251;
    return 256 * a + b;
}

void cyclic(int from, int to, int count)
{
    int sum = 0;
    upc_forall (int i = 0; i < EACH * THREADS; i++; &sums[i])
        sums[i] = -1;
    upc_all_prefix_reduceI(&sums[to], &one[from], UPC_ADD, count, 1, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    for (int i = 0; i < EACH * THREADS; i++) {
        if (i >= to && i < to + count)
            sum += one[from + i - to];
        CHECK(sums[i] == (i >= to && i < to + count ? sum : -1));
    }
    upc_barrier;
}

void blocked(int from, int to, int count)
{
    int map = 0;
    upc_forall (int i = 0; i < 2 * 3 * THREADS; i++; &maps[i])
        maps[i] = -1;
    upc_all_prefix_reduceI(&maps[to], &three[from], UPC_NONCOMM_FUNC, count, 3, compose, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
    upc_barrier;
    for (int i = 0; i < 2 * 3 * THREADS; i++) {
        int inside = i >= to && i < to + count;
        if (inside)
            map = i == to ? three[from] : compose(map, three[from + i - to]);
        CHECK(maps[i] == (inside ? map : -1));
    }
    upc_barrier;
}

int main(void)
{
    upc_forall (int i = 0; i < EACH * THREADS; i++; &one[i])
        one[i] = i * i % 13;
    upc_forall (int i = 0; i < 2 * 3 * THREADS; i++; &three[i])
        three[i] = 256 * (1 + i % 5) + i * i % 251;
    upc_barrier;
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++) {
            cyclic(from, to, EACH * THREADS - 2);
            cyclic(from, to, 1);
            blocked(from, to, 2 * 3 * THREADS - 2);
            blocked(from, to, 2);
        }
    return check_failures;
}
