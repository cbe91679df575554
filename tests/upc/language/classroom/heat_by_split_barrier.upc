// Heat in a bar: the inner points are computed between upc_notify and upc_wait, the ghost points after it.
#include <upc.h>
#include "check.h"

enum { PART = 8 };
struct part { double u[PART + 2]; };
shared struct part bar[THREADS];

int main(void)
{
    double *mine = ((struct part *)&bar[MYTHREAD])->u, next[PART + 2] = {0};
    double all[PART * THREADS + 2], other[PART * THREADS + 2];
    for (int i = 0; i < PART * THREADS + 2; i++)
        all[i] = other[i] = i == 0 ? 100.0 : 0.0;
    if (MYTHREAD == 0)
        mine[0] = 100;
    upc_barrier;
    for (int step = 0; step < 30; step++) {
        upc_notify;
        for (int i = 2; i < PART; i++)
            next[i] = mine[i] + 0.25 * (mine[i - 1] - 2 * mine[i] + mine[i + 1]);
        upc_wait;
        if (MYTHREAD > 0)
            mine[0] = bar[MYTHREAD - 1].u[PART];
        if (MYTHREAD < THREADS - 1)
            mine[PART + 1] = bar[MYTHREAD + 1].u[1];
        next[1] = mine[1] + 0.25 * (mine[0] - 2 * mine[1] + mine[2]);
        next[PART] = mine[PART] + 0.25 * (mine[PART - 1] - 2 * mine[PART] + mine[PART + 1]);
        upc_barrier;
        for (int i = 1; i <= PART; i++)
            mine[i] = next[i];
        for (int i = 1; i <= PART * THREADS; i++)
            other[i] = all[i] + 0.25 * (all[i - 1] - 2 * all[i] + all[i + 1]);
        for (int i = 1; i <= PART * THREADS; i++)
            all[i] = other[i];
    }
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        for (int i = 1; i <= PART; i++)
            CHECK(bar[t].u[i] == all[PART * t + i]);
    return check_failures;
}
