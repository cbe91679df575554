// A structure may have a pointer to shared as member: it is the referenced type that is shared (6.5.1.1).
#include "check.h"

struct holder {
    int count;
    shared int *cyclic;
    shared [2] double *blocked;
    struct { shared [] char *text; } inner;
};

shared int a[THREADS];
shared [2] double b[2 * THREADS];

int main(void)
{
    struct holder h = {THREADS, a, b, {0}};
    h.cyclic[MYTHREAD] = MYTHREAD;
    h.blocked[2 * MYTHREAD + 1] = 0.5 * MYTHREAD;
    upc_barrier;
    struct holder *p = &h;
    for (int t = 0; t < p->count; t++) {
        CHECK_EQ(p->cyclic[t], t);
        CHECK(p->blocked[2 * t + 1] == 0.5 * t);
    }
    CHECK(!p->inner.text);
    return check_failures;
}
