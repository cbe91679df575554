// The value of a shared object has the object's type, narrow ones too (C11 6.3.2.1): no promotion comes from its being shared.
#include "check.h"

enum __attribute__((packed)) narrow { LOW, HIGH = 200 };
shared char c = 'c';
shared signed char sc = -1;
shared short s = -300;
shared unsigned short us = 60000;
shared _Bool b = 1;
shared float f = 0.5f;
shared enum narrow e = HIGH;
strict shared short strict_one = 7;
shared short a[3 * THREADS];
shared struct {
    short m;
} r[THREADS];

#define TYPE(x) \
    _Generic((x), char : 1, signed char : 2, short : 3, unsigned short : 4, _Bool : 5, float : 6, default : 0)

int main(void)
{
    CHECK_EQ(TYPE(c), 1);
    CHECK_EQ(TYPE(sc), 2);
    CHECK_EQ(TYPE(s), 3);
    CHECK_EQ(TYPE(us), 4);
    CHECK_EQ(TYPE(b), 5);
    CHECK_EQ(TYPE(f), 6);
    CHECK_EQ(TYPE(strict_one), 3);
    CHECK_EQ(TYPE(a[MYTHREAD]), 3);
    CHECK_EQ(TYPE(r[0].m), 3);
    CHECK_EQ(TYPE(+c), 0);
    CHECK_EQ(sizeof(((void)0, c)), 1);
    CHECK_EQ(sizeof(((void)0, us)), 2);
    CHECK_EQ(sizeof(((void)0, e)), 1);
    __auto_type copy = us;
    copy += 10000;
    CHECK_EQ(copy, 70000 % 65536);
    __auto_type truth = b;
    truth += 5;
    CHECK_EQ(truth, 1);
    upc_forall (int i = 0; i < 3 * THREADS; i++; &a[i])
        a[i] = TYPE(a[i]) + sizeof(((void)0, a[i]));
    upc_barrier;
    CHECK_EQ(a[(MYTHREAD + 1) % THREADS], 5);
    CHECK_EQ(sc + s + us + b + e, -1 - 300 + 60000 + 1 + 200);
    return check_failures;
}
