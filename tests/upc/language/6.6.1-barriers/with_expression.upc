// Barriers with expressions that agree (6.6.1).
#include "check.h"

static int calls;

static int value(int n)
{
    calls++;
    return n;
}

int main(void)
{
    upc_barrier 17;
    upc_barrier value(3);
    upc_barrier (1 + 2) * 4;
    upc_notify 5;
    upc_wait 5;
    upc_notify value(6);
    upc_wait value(6);
    for (int i = 0; i < 4; i++)
        upc_barrier i * i - 100;
    CHECK_EQ(calls, 3);
    return check_failures;
}
