// The difference of two pointers into an array is the difference of the subscripts (6.4.2).
#include "check.h"

shared [3] char a[9 * THREADS];

int main(void)
{
    for (int i = 0; i <= 9 * THREADS; i++)
        for (int j = 0; j <= 9 * THREADS; j += 2)
            CHECK_EQ((a + i) - (a + j), i - j);
    return check_failures;
}
