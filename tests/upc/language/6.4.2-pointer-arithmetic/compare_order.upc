// <, <=, >, >= of pointers into one array order as the subscripts do (6.4.2).
#include "check.h"

shared [3] int b[6 * THREADS];
shared int c[6 * THREADS];
shared [] int n[12];

int main(void)
{
    for (int i = 0; i < 6 * THREADS; i++)
        for (int j = 0; j < 6 * THREADS; j++) {
            CHECK((&b[i] < &b[j]) == (i < j));
            CHECK((&b[i] <= &b[j]) == (i <= j));
            CHECK((&b[i] > &b[j]) == (i > j));
            CHECK((&b[i] >= &b[j]) == (i >= j));
            CHECK((&c[i] < &c[j]) == (i < j));
            CHECK((&c[i] >= &c[j]) == (i >= j));
        }
    for (int i = 0; i < 12; i++) {
        CHECK((n + i > n + 5) == (i > 5));
        CHECK((n + i <= n + 5) == (i <= 5));
    }
    return check_failures;
}
