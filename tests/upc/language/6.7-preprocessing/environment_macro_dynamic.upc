// __UPC_DYNAMIC_THREADS__ is 1 in the dynamic environment, the other one is not defined (6.7.2).
// environment: dynamic
#include "check.h"

#if defined(__UPC_STATIC_THREADS__) || !defined(__UPC_DYNAMIC_THREADS__) || __UPC_DYNAMIC_THREADS__ != 1
#error wrong macros
#endif

int main(void)
{
    CHECK_EQ(__UPC_DYNAMIC_THREADS__, 1);
    return check_failures;
}
