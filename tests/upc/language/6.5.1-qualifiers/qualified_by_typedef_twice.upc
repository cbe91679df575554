// A shared qualifier added to a typedef'd private type (6.5.1.1).
#include "check.h"

typedef int number;
typedef number triple[3];
shared number n;
shared [3] triple t[THREADS];
shared [3] number *p = &t[0][0];

int main(void)
{
    t[MYTHREAD][2] = MYTHREAD + 5;
    upc_barrier;
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(p[3 * i + 2], i + 5);
    CHECK_EQ(n, 0);
    return check_failures;
}
