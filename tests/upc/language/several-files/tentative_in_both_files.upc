// A header with tentative definitions, as old programs have them, included by two files: one object.
// files: tentative_other.upc
#include "tentative.h"
#include "check.h"

int main(void)
{
    common[MYTHREAD] = 3 + MYTHREAD;
    upc_barrier;
    CHECK_EQ(sum_of_common(), 3 * THREADS + THREADS * (THREADS - 1) / 2);
    CHECK_EQ(where_common() - &common[0], 0);
    CHECK(total == 0);
    return check_failures;
}
