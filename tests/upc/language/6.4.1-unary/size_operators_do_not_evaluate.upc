// The operand of sizeof, upc_localsizeof, upc_blocksizeof and upc_elemsizeof is not evaluated.
#include "check.h"

shared [3] int a[3 * THREADS];
static int calls;

static shared [3] int *side_effect(void)
{
    calls++;
    return a;
}

int main(void)
{
    int i = 0;
    CHECK_EQ(sizeof(*side_effect()), sizeof(int));
    CHECK_EQ(upc_blocksizeof(*side_effect()), 3);
    CHECK_EQ(upc_elemsizeof(*side_effect()), sizeof(int));
    CHECK(upc_localsizeof(*side_effect()) >= sizeof(int));
    CHECK_EQ(sizeof(a[i++]), sizeof(int));
    CHECK_EQ(calls, 0);
    CHECK_EQ(i, 0);
    return check_failures;
}
