// const and volatile combine with shared.
#include "check.h"

const shared int limit = 12;
shared const int also = 13;
volatile shared int v;
shared [] const char word[3] = "ab";

static int read_it(shared const int *p) { return *p; }

int main(void)
{
    shared const int *p = &limit;
    CHECK_EQ(*p, 12);
    CHECK_EQ(read_it(&also), 13);
    if (MYTHREAD == 0)
        v = 2;
    upc_barrier;
    CHECK_EQ(v, 2);
    CHECK_EQ(word[1], 'b');
    return check_failures;
}
