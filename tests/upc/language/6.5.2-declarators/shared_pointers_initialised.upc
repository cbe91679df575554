// A shared pointer to shared may start with the address of a shared object.
#include "check.h"

shared int x = 31;
shared int *shared p = &x;
shared [] int list[3] = {1, 2, 3};
shared [] int *shared q = list;
shared [] int *shared nothing = NULL;

int main(void)
{
    CHECK(p == &x);
    CHECK_EQ(*p, 31);
    CHECK_EQ(q[2], 3);
    CHECK(nothing == NULL);
    return check_failures;
}
