// The optional libraries say that they are there by a macro of value 1 (7.4).
#include "check.h"

#if __UPC_COLLECTIVE__ != 1 || __UPC_TICK__ != 1 || __UPC_CASTABLE__ != 1 || __UPC_ATOMIC__ != 1 || __UPC_NB__ != 1
#error a library is missing
#endif

int main(void)
{
    CHECK_EQ(__UPC_TICK__, 1);
    return check_failures;
}
