// Members of members, arrays within structures within arrays, through -> and . (C99 6.5.2.3).
#include "check.h"

struct leaf { int values[3]; };
struct branch { struct leaf leaves[2]; struct leaf *own; shared struct leaf *other; };
struct tree { struct branch branches[2]; int count; };
shared struct leaf spare;
shared struct tree forest[THREADS];

int main(void)
{
    int t = (MYTHREAD + 1) % THREADS;
    shared struct tree *p = &forest[t];
    for (int b = 0; b < 2; b++)
        for (int l = 0; l < 2; l++)
            for (int v = 0; v < 3; v++)
                p->branches[b].leaves[l].values[v] = 100 * b + 10 * l + v;
    CHECK_EQ(forest[t].branches[1].leaves[1].values[2], 112);
    CHECK_EQ((*p).branches[1].leaves->values[1], 101);
    shared [] struct leaf *l = &p->branches[1].leaves[0];
    CHECK_EQ(l[1].values[0], 110);
    CHECK_EQ(*(l->values + 2), 102);
    struct leaf copy = p->branches[0].leaves[1];
    CHECK_EQ(copy.values[2], 12);
    p->branches[0].other = &spare;
    p->branches[0].other->values[1] = 77;
    CHECK_EQ(spare.values[1], 77);
    p->count = sizeof p->branches / sizeof p->branches[0];
    CHECK_EQ(p->count, 2);
    upc_barrier;
    return check_failures;
}
