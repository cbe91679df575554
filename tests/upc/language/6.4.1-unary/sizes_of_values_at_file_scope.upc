// At file scope, too, the operand of sizeof and typeof may be an expression with shared objects.
#include "check.h"

shared int a[THREADS];
shared struct { char c; double d; } s;
shared short *p;
char of_sum[sizeof(a[0] + 1)], of_product[sizeof(s.c * s.d)], of_pointer[sizeof(*p * *p + 1L)];
__typeof__(a[0] + s.d) number = 1.5;
__typeof__(s.c + s.c) integer = 3;
_Static_assert(sizeof(a[0] * a[0]) == sizeof(int), "an int");

int main(void)
{
    CHECK_EQ(sizeof of_sum, sizeof(int));
    CHECK_EQ(sizeof of_product, sizeof(double));
    CHECK_EQ(sizeof of_pointer, sizeof(long));
    CHECK(number == 1.5 && integer == 3);
    CHECK_EQ(sizeof integer, sizeof(int));
    return check_failures;
}
