// #pragma upc strict and #pragma upc relaxed in nested blocks (6.7.1). What else may follow #pragma upc is not said, so it is not tested.
#include "check.h"

shared int a[THREADS];

int main(void)
{
    {
#pragma upc strict
        a[MYTHREAD] = 1;
        {
#pragma upc relaxed
            a[MYTHREAD] += 2;
        }
        a[MYTHREAD] += 4;
    }
    CHECK_EQ(a[MYTHREAD], 7);
    return check_failures;
}
