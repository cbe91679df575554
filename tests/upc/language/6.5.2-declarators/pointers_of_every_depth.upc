// Declarators with pointers, arrays and functions of several levels.
#include "check.h"

shared [2] int a[2 * THREADS];
shared [2] int *p[2] = {a, a + 1};

static shared [2] int *choose(int which) { return p[which]; }
static shared [2] int **list(void) { return p; }
static shared [2] int *(*function)(int) = choose;
static shared [2] int *(*functions[2])(int) = {choose, choose};

int main(void)
{
    if (MYTHREAD == 0) {
        a[0] = 4;
        a[1] = 5;
    }
    upc_barrier;
    CHECK_EQ(*choose(1), 5);
    CHECK_EQ(*list()[0], 4);
    CHECK_EQ(*function(1), 5);
    CHECK_EQ(*(*functions[1])(0), 4);
    CHECK_EQ(choose(0)[1], 5);
    return check_failures;
}
