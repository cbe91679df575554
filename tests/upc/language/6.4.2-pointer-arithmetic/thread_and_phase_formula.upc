// p + i: phase (p.phase + i) mod B; thread and block follow from the element's place in the blocked numbering (6.4.2).
#include <upc.h>
#include "check.h"

shared [5] int a[15 * THREADS];

int main(void)
{
    for (int from = 0; from < 15 * THREADS; from += 4)
        for (int i = -from; from + i < 15 * THREADS; i += 3) {
            shared [5] int *p = &a[from];
            shared [5] int *q = p + i;
            CHECK_EQ(upc_phaseof(q), (from + i) % 5);
            CHECK_EQ(upc_threadof(q), (from + i) / 5 % THREADS);
            CHECK_EQ(upc_addrfield(q), upc_addrfield(&a[from + i]));
        }
    return check_failures;
}
