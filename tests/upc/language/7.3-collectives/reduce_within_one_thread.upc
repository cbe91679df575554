// A block size of 0: all elements lie with the thread of the source (7.3.4).
#include <upc_collective.h>
#include "check.h"

shared [] int a[11];
shared int result;

int main(void)
{
    if (MYTHREAD == 0)
        for (int i = 0; i < 11; i++)
            a[i] = i * i;
    upc_all_reduceI(&result, a, UPC_ADD, 11, 0, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    CHECK_EQ(result, 385);
    return check_failures;
}
