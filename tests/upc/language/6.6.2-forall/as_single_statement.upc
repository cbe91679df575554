// upc_forall as body of if and else, and with an empty body.
#include "check.h"

int main(void)
{
    int i, turns = 0;
    if (THREADS > 100)
        upc_forall (i = 0; i < 3 * THREADS; i++; i)
            turns += 100;
    else
        upc_forall (i = 0; i < 3 * THREADS; i++; i)
            turns++;
    upc_forall (i = 0; i < 10; i++; i)
        ;
    CHECK_EQ(i, 10);
    CHECK_EQ(turns, 3);
    return check_failures;
}
