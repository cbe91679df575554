// The difference of indefinite pointers with the same affinity (6.4.2).
#include <upc.h>
#include "check.h"

int main(void)
{
    shared [] double *mine = upc_alloc(10 * sizeof(double));
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 10; j++)
            CHECK_EQ((mine + i) - (mine + j), i - j);
    upc_free(mine);
    return check_failures;
}
