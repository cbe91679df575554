// With an empty or zero layout all elements have affinity to thread 0 (6.5.1.1).
#include <upc.h>
#include "check.h"

shared [] int a[30];
shared [0] struct { char c[5]; } b[4];

int main(void)
{
    for (int i = 0; i < 30; i++)
        CHECK_EQ(upc_threadof(&a[i]), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(upc_threadof(&b[i]), 0);
    return check_failures;
}
