// Pragmas of others are no concern of UPC's (C99 6.10.6).
#include "check.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-variable"
static int never_used = 3;
#pragma GCC diagnostic pop
#pragma pack(push, 1)
struct packed { char c; int i; };
#pragma pack(pop)
shared struct packed p[THREADS];

int main(void)
{
    p[MYTHREAD].i = 70000 + MYTHREAD;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(p[t].i, 70000 + t);
    CHECK_EQ(sizeof(struct packed), 5);
    return check_failures;
}
