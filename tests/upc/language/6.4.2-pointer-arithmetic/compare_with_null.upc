// A pointer to shared compares with the null pointer constant, as condition too.
#include <stddef.h>
#include "check.h"

shared int x;
shared int *never_set;

int main(void)
{
    shared int *p = NULL;
    shared void *v = 0;
    CHECK(p == NULL && p == 0 && NULL == p && !p && v == NULL);
    CHECK(never_set == NULL);
    CHECK(p == v);
    p = &x;
    CHECK(p != NULL && p != 0 && p);
    if (!p)
        CHECK(0);
    int turns = 0;
    for (v = p; v; v = NULL)
        turns++;
    CHECK_EQ(turns, 1);
    CHECK(p && x == 0);
    CHECK(!(p == NULL || x != 0));
    CHECK_EQ(p ? 3 : 4, 3);
    return check_failures;
}
