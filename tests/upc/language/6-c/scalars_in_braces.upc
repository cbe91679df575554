// Braces around the initialiser of a scalar (C11 6.7.9): pointers to shared, shared objects, compound literals.
#include "check.h"

struct holder {
    shared int *p;
    int n;
};
shared int x = {5}, y[THREADS];
shared int *p = {&x}, *none = {0};
static shared int *shared in_shared = {&x};
shared struct holder whole = {{&x}, 2};
struct holder holders[] = {{{&x}}, {.p = {y}}};
int threads = {THREADS};

int main(void)
{
    shared int *local = {&x}, **literal = &(shared int *){&x};
    static shared int *kept = {&x};
    static int also = {THREADS};
    CHECK(p == &x && none == NULL && in_shared == &x && whole.p == &x);
    CHECK_EQ(*p, 5);
    CHECK(holders[0].p == &x && holders[1].p == y);
    CHECK(local == &x && *literal == &x && kept == &x);
    CHECK_EQ(threads + also, 2 * THREADS);
    *literal = y;
    CHECK((*literal)++ == y && *literal - y == 1);
    CHECK((shared int *){0} == NULL);
    return check_failures;
}
