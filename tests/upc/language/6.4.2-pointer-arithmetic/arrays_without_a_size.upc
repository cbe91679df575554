// Arithmetic needs a pointer to a type with a size, which an array has that says how many elements it has (C99 6.5.6).
#include "check.h"

struct later;
extern shared int cyclic[];
shared [] int (*p)[], (*q)[];
shared struct later *r, *s;

int main(void)
{
    p++; // error: incomplete
    p = p - 1; // error: incomplete
    p = &p[1]; // error: incomplete
    CHECK((*p)[0] == p[1][2]); // error: incomplete
    CHECK(p - q == 0); // error: incomplete
    CHECK(r - s == 0); // error: incomplete
    CHECK(&cyclic == &cyclic + 1); // error: incomplete
    CHECK(&cyclic[1] - cyclic == 1 && p == q && r == s);
    return check_failures;
}
