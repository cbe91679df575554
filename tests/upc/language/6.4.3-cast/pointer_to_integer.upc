// A pointer to shared casts to an integer; equal pointers give equal values. Which ones is up to the implementation (6.4.3).
#include "check.h"

shared [2] int a[4 * THREADS];

int main(void)
{
    for (int i = 0; i < 4 * THREADS; i++)
        CHECK((unsigned long)&a[i] == (unsigned long)(a + i));
    return check_failures;
}
