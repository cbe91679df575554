// Without affinity every thread runs every iteration (6.6.2).
#include "check.h"

int main(void)
{
    int turns = 0;
    upc_forall (int i = 0; i < 10; i++;)
        turns++;
    CHECK_EQ(turns, 10);
    return check_failures;
}
