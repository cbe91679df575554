// __UPC__ is 1, __UPC_VERSION__ 201311L for UPC 1.3 (6.7.2).
#include "check.h"

#if !defined(__UPC__) || __UPC__ != 1
#error __UPC__
#endif
#if __UPC_VERSION__ < 200505L
#error __UPC_VERSION__
#endif

int main(void)
{
    CHECK_EQ(__UPC__, 1);
    CHECK_EQ(__UPC_VERSION__, 201311L);
    return check_failures;
}
