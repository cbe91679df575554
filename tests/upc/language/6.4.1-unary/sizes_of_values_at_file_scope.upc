// At file scope, too, the operand of sizeof and typeof may be an expression with shared objects.
#include "check.h"

shared int a[THREADS];
shared struct { char c; double d; } s;
shared short *p;
const int *shared places[THREADS];
static int only_in_operands(int k) { return k; }
char of_sum[sizeof(a[0] + 1)], of_product[sizeof(s.c * s.d)], of_pointer[sizeof(*p * *p + 1L)];
__typeof__(a[0] + s.d) number = 1.5;
__typeof__(s.c + s.c) integer = 3;
__typeof__(*places[0]) constant = 7;
_Static_assert(__builtin_types_compatible_p(__typeof__(&constant), const int *), "const");
__typeof__(only_in_operands(a[0]) + a[0]) of_call = 8;
_Static_assert(sizeof(a[0] * a[0]) == sizeof(int), "an int");

int main(void)
{
    CHECK_EQ(sizeof of_sum, sizeof(int));
    CHECK_EQ(sizeof of_product, sizeof(double));
    CHECK_EQ(sizeof of_pointer, sizeof(long));
    CHECK(number == 1.5 && integer == 3);
    CHECK_EQ(sizeof integer, sizeof(int));
    CHECK(constant == 7 && of_call == 8);
    return check_failures;
}
