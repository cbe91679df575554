// Builtins of GNU C with and without type arguments.
#include <stddef.h>
#include "check.h"

struct record { int a; double b[4]; };
shared int n[THREADS];

int main(void)
{
    int *p = __builtin_alloca(4 * sizeof(int));
    for (int i = 0; i < 4; i++)
        p[i] = i;
    n[MYTHREAD] = __builtin_popcount(0xff) + p[3];
    CHECK_EQ(n[MYTHREAD], 11);
    CHECK_EQ(__builtin_offsetof(struct record, b[2]), offsetof(struct record, b) + 16);
    CHECK(__builtin_types_compatible_p(int, __typeof__(MYTHREAD)));
    CHECK_EQ(__builtin_choose_expr(1, 3, "x"), 3);
    CHECK(__builtin_constant_p(4) == 1);
    CHECK_EQ(__alignof__(double), _Alignof(double));
    int result;
    CHECK(__builtin_add_overflow(2147483647, 1, &result));
    return check_failures;
}
