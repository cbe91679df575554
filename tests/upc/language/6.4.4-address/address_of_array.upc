// & of a whole shared array: a pointer to the array.
#include "check.h"

shared [2] int m[THREADS][4];
shared [] int list[6];

int main(void)
{
    shared [] int (*all)[6] = &list;
    if (MYTHREAD == 0)
        (*all)[5] = 9;
    upc_barrier;
    CHECK_EQ(list[5], 9);
    CHECK_EQ(sizeof *all, 6 * sizeof(int));
    shared [2] int (*row)[4] = &m[THREADS - 1];
    CHECK(&(*row)[2] == &m[THREADS - 1][2]);
    return check_failures;
}
