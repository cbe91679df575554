// Shared objects have static storage duration: without an initialiser they start as zero (C99 6.7.8, UPC 6.5).
#include "check.h"

struct pair { int a; double b; };
shared int scalar;
shared int cyclic[5 * THREADS];
shared [] long indefinite[7];
shared [3] struct pair blocked[6 * THREADS];
shared int *shared pointer;

int main(void)
{
    CHECK_EQ(scalar, 0);
    for (int i = 0; i < 5 * THREADS; i++)
        CHECK_EQ(cyclic[i], 0);
    for (int i = 0; i < 7; i++)
        CHECK_EQ(indefinite[i], 0);
    for (int i = 0; i < 6 * THREADS; i++)
        CHECK(blocked[i].a == 0 && blocked[i].b == 0.0);
    CHECK(pointer == NULL);
    return check_failures;
}
