// However a structure is read, its subscript appears once in the C code: labels in it are not there
// twice, and reads within reads do not double it with each level.
#include "check.h"

struct record { int a[3]; };
shared struct record v[4 * THREADS];

static int first_of(struct record r)
{
    return r.a[0];
}

int main(void)
{
    for (int i = 0; i < 4; ++i) v[4 * MYTHREAD + i].a[0] = 4 * MYTHREAD + (i + 1) % 4;
    upc_barrier;
    const int mine = 4 * MYTHREAD;
    const struct record r = v[({ int k = mine; again: if (k < mine + 3) { k++; goto again; } k; })];
    CHECK(r.a[0] == mine);
    CHECK(first_of(v[first_of(v[first_of(v[first_of(v[mine])])])]) == mine);
    const int deep = first_of(v[first_of(v[first_of(v[first_of(v[first_of(v[first_of(v[first_of(v[first_of(v[
        first_of(v[first_of(v[first_of(v[first_of(v[first_of(v[first_of(v[first_of(v[first_of(v[first_of(v[
        first_of(v[first_of(v[first_of(v[first_of(v[first_of(v[first_of(v[first_of(v[mine])])])])])])])])])
        ])])])])])])])])])])])])])])]);
    CHECK(deep == mine);
    upc_barrier;
    return check_failures;
}
