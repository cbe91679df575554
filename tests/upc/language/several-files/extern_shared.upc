// Shared objects defined in one file and declared in another (C99 6.2.2).
// files: extern_shared_other.upc
#include "extern_shared.h"
#include "check.h"

shared int counter = 5;
shared [3] double values[6 * THREADS];
shared int *shared pointer;

int main(void)
{
    CHECK_EQ(counter, 5);
    upc_barrier;
    set_value(MYTHREAD, MYTHREAD * 0.5);
    if (MYTHREAD == 0)
        bump();
    upc_barrier;
    CHECK_EQ(counter, 6);
    CHECK(values[3 * MYTHREAD] == 0.5 * MYTHREAD);
    CHECK(pointer == &counter);
    CHECK(other_table[2] == 30);
    return check_failures;
}
