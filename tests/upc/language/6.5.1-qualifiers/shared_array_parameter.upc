// A parameter declared as array of shared is a pointer to shared: allowed (C99 6.7.5.3).
#include "check.h"

shared [2] int a[2 * THREADS];

static int last(shared [2] int list[], int count)
{
    CHECK_EQ(sizeof list, sizeof(shared void *));
    return list[count - 1];
}

static int first(shared [2] int list[2 * THREADS])
{
    return *list++;
}

int main(void)
{
    a[2 * MYTHREAD] = 1;
    a[2 * MYTHREAD + 1] = 2;
    upc_barrier;
    CHECK_EQ(last(a, 2 * THREADS), 2);
    CHECK_EQ(first(a), 1);
    return check_failures;
}
