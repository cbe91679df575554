// A private pointer to shared with static storage duration may start with the address of a shared object or element (C99 6.6).
#include "check.h"

shared int x = 5;
shared [3] int a[6 * THREADS];
struct record { int i; double d; };
shared struct record r;
shared int *px = &x;
shared [3] int *pa = a;
shared [3] int *element = &a[4];
shared [] double *member = &r.d;
static shared int *of_file = &x;

static shared int *in_function(void)
{
    static shared int *p = &x;
    return p;
}

int main(void)
{
    CHECK_EQ(*px, 5);
    CHECK(pa == &a[0] && element == a + 4 && member == &r.d);
    CHECK(of_file == px && in_function() == px);
    return check_failures;
}
