// #pragma upc is followed by strict or relaxed (6.7.1). What else may follow is not said, so only these two are tested, one after the other.
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
