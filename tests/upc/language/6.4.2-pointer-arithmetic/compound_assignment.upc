// += and -= on pointers to shared: results and values (6.4.2).
#include "check.h"

shared [3] int a[9 * THREADS];

int main(void)
{
    shared [3] int *p = a;
    p += 7;
    CHECK(p == &a[7]);
    CHECK((p -= 4) == &a[3]);
    CHECK_EQ(p - a, 3);
    int i = 2;
    p += i++;
    CHECK(p == &a[5] && i == 3);
    p = p + 1 - 6;
    CHECK(p == a);
    return check_failures;
}
