// shared void is incomplete: no arithmetic on a generic pointer-to-shared that could have a result the same everywhere (C99 6.5.6).
// The element of shared void has no size; GNU C counts bytes for private void *, for shared ones the specification has no rule.
// Only what is certain is tested: assignment and comparison.
#include "check.h"

shared int x;

int main(void)
{
    shared void *p = &x, *q = p;
    CHECK(p == q);
    q = NULL;
    CHECK(p != q);
    return check_failures;
}
