// The constant 0 casts to a null pointer to shared of any type (6.4.3).
#include "check.h"

int main(void)
{
    shared int *p = (shared int *)0;
    shared [5] double *q = (shared [5] double *)0;
    CHECK(p == 0 && q == 0);
    CHECK((shared void *)0 == p);
    return check_failures;
}
