// Macros whose text or arguments hold UPC constructs.
#include <upc.h>
#include "check.h"

#define SHARED_ARRAY(type, name, block) shared [block] type name[block * THREADS]
#define EACH(i, n, where) upc_forall (int i = 0; i < (n); i++; where)
#define SYNC upc_barrier
#define OTHER ((MYTHREAD + 1) % THREADS)
#define AT(a, i) (*(&(a)[i]))
#define JOIN(a, b) a##b

SHARED_ARRAY(double, JOIN(va, lues), 3);
SHARED_ARRAY(int, counts, 1);

int main(void)
{
    EACH(i, 3 * THREADS, &values[i])
        AT(values, i) = 0.5 * i;
    counts[OTHER] = OTHER;
    SYNC;
    for (int i = 0; i < 3 * THREADS; i++)
        CHECK(AT(values, i) == 0.5 * i);
    CHECK_EQ(counts[MYTHREAD], MYTHREAD);
    return check_failures;
}
