// Initialisers of arrays whose elements lie with several threads. Whether an array with dynamic THREADS in a dimension may have one is not
// said clearly, so this is static only (6.5.2.1).
// environment: static
#include "check.h"

shared int a[7] = {1, 2, 3, 4, 5, 6, 7};
shared [2] char word[12] = "hello world";
shared [3] int m[2][4] = {{1, 2, 3}, {10, 20, 30, 40}};
shared [*] double part[8] = {[1] = 1.5, [7] = 7.5};

int main(void)
{
    for (int i = 0; i < 7; i++)
        CHECK_EQ(a[i], i + 1);
    for (int i = 0; i < 12; i++)
        CHECK_EQ(word[i], "hello world"[i]);
    CHECK(m[0][0] == 1 && m[0][2] == 3 && m[0][3] == 0 && m[1][0] == 10 && m[1][3] == 40);
    CHECK(part[0] == 0 && part[1] == 1.5 && part[7] == 7.5);
    return check_failures;
}
