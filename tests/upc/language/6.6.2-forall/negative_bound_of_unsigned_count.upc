// C compares an unsigned count with a negative bound as unsigned numbers: the bound is a large one.
#include "check.h"

int main(void)
{
    size_t i;
    int passed = 0, n = -1;
    upc_forall (i = 0; i < n; i++; i)
        if (passed++ == 2)
            break;
    CHECK_EQ((int)i, MYTHREAD + 2 * THREADS);
    return check_failures;
}
