// A const object whose initial value is known at the start only, with declarations of it before and after (C11 6.2.7, 6.7.9).
// files: const_initialised_at_start_other.upc
#include "check.h"
#include "const_initialised_at_start.h"

shared int x;
shared int *const place = &x;
const struct places places[2] = {{&x, 1}, {NULL, 2}};
const int processes = THREADS;
const struct single single = {&x};
constant_places more = {&x, 3};
extern const int processes;
#include "const_initialised_at_start.h"
static shared int *const tentative;
static shared int *const tentative = &x;

static int in_function(void)
{
    extern shared int *const place;
    extern const int processes;
    return place == &x && processes == THREADS;
}

int main(void)
{
    extern constant_places more;
    CHECK(place == &x && places[0].where == &x && places[1].where == NULL && tentative == &x);
    CHECK(single.one == &x && more.where == &x && (unsigned long)&more % 32 == 0);
    CHECK_EQ((unsigned long)places % 64, 0);
    CHECK_EQ(places[1].n + more.n, 5);
    CHECK_EQ(processes, THREADS);
    CHECK(in_function());
    CHECK(in_other_file());
    return check_failures;
}
