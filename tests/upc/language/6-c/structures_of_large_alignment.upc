// A structure with an alignment of its own, as of a cache line, is read and written without
// warnings of C.
#include "check.h"

struct __attribute__((aligned(64))) line { int a; char b[60]; };
shared struct line v[THREADS];

int main(void)
{
    struct line mine = {MYTHREAD + 1, "b"};
    v[MYTHREAD] = mine;
    upc_barrier;
    mine = v[(MYTHREAD + 1) % THREADS];
    CHECK(mine.a == (MYTHREAD + 1) % THREADS + 1 && mine.b[0] == 'b');
    upc_barrier;
    return check_failures;
}
