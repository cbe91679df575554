// _Generic sees the unqualified type of a shared object's value (C11 6.5.1.1).
#include "check.h"

#define KIND(x) _Generic((x), int: 1, double: 2, unsigned char: 3, char *: 4, default: 0)

#define POINTER(x) _Generic((x), shared int *: 1, shared const int *: 2, shared [2] int *: 3, shared int *shared *: 4, default: 0)

shared int i;
shared double d[THREADS];
shared unsigned char c;
char *shared p;
struct pair { int a[3]; double b; };
shared struct pair pair;

// What selects is not evaluated, so that the result may be a constant.
int first = KIND(i) + 10 * KIND(d[0]) + 100 * KIND(pair.b + i) + 1000 * KIND(p);
int second = _Generic(pair, struct pair: 7, default: 8);
enum { THIRD = KIND(pair.a[1]) };

int main(void)
{
    CHECK_EQ(KIND(i + 0), 1);
    CHECK_EQ(KIND(d[0] + 0), 2);
    CHECK_EQ(KIND((unsigned char)c), 3);
    CHECK_EQ(KIND((char *)p), 4);
    CHECK_EQ(KIND(2.5f), 0);
    i = _Generic(MYTHREAD, int: 5, default: 6);
    CHECK_EQ(i, 5);
    static int within = KIND(c);
    CHECK_EQ(within, 3);
    CHECK_EQ(first, 4221);
    CHECK_EQ(second, 7);
    CHECK_EQ(THIRD, 1);
    CHECK_EQ(_Generic((i += 5, i), int: 1, default: 0), 1);
    upc_barrier;
    CHECK_EQ(i, 5);
    // It is an lvalue if what it selects is one.
    int own = 1;
    double other = 2;
    _Generic(own, int: own, default: other) += 3;
    *&_Generic(other, int: own, default: other) = 0;
    CHECK_EQ(own + (int)other, 4);
    const shared int *to_const = &i;
    shared int *const fixed = &i;
    CHECK(to_const == fixed);
    CHECK_EQ(POINTER(to_const), 2);
    CHECK_EQ(POINTER(fixed), 1);
    CHECK_EQ(POINTER((shared volatile int *) &i), 0);
    return check_failures;
}
