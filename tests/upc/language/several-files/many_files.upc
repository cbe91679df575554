// Three files that share a header with types, inline functions and macros.
// files: many_files_list.upc many_files_sum.upc
#include "many_files.h"
#include "check.h"

shared [] struct item *shared lists[THREADS];

int main(void)
{
    for (int i = 1; i <= 4; i++)
        lists[MYTHREAD] = pushed(lists[MYTHREAD], ITEM(MYTHREAD, i));
    upc_barrier;
    CHECK_EQ(sum_of_list(lists[(MYTHREAD + 1) % THREADS]), 40 * (1 + (MYTHREAD + 1) % THREADS) + 10);
    upc_barrier;
    CHECK_EQ(released(lists[MYTHREAD]), 4);
    CHECK_EQ(pushes[MYTHREAD], 4);
    return check_failures;
}
