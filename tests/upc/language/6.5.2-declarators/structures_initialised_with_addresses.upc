// Addresses of shared objects within initialisers of private structures and arrays.
#include "check.h"

shared int x = 5, y = 6;
shared [2] int a[2 * THREADS];
struct entry { const char *name; shared int *at; };
static const struct entry table[] = {{"x", &x}, {"y", &y}, {"none", 0}};
static shared [2] int *ends[2] = {a, a + 1};
// Members of the names of variables.
static int count, *name;
static shared struct { int other, count; } whole;
static shared [] int *member = &whole.count;
static const struct entry named = {.name = "count", .at = &y};

int main(void)
{
    CHECK(table[0].at == &x && table[1].at == &y && table[2].at == NULL);
    CHECK_EQ(*table[1].at, 6);
    CHECK(ends[1] - ends[0] == 1);
    CHECK_EQ(table[0].name[0], 'x');
    CHECK(member == &whole.count && named.at == &y && name == NULL && count == 0);
    return check_failures;
}
