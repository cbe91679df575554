// The difference of pointers of block size 1; its type is that of ptrdiff_t (6.4.2).
#include <stddef.h>
#include "check.h"

struct three { char c[3]; };
shared struct three a[5 * THREADS];

int main(void)
{
    for (int i = 0; i <= 5 * THREADS; i++)
        for (int j = 0; j <= 5 * THREADS; j++)
            CHECK_EQ(&a[i] - &a[j], i - j);
    CHECK(_Generic(&a[1] - &a[0], ptrdiff_t: 1, default: 0));
    return check_failures;
}
