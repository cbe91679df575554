// The bound of a shared array may come from its initialiser (C99 6.7.8).
#include "check.h"

shared [] int a[] = {3, 1, 4, 1, 5};
shared [] const char greeting[] = "good day";

int main(void)
{
    CHECK_EQ(sizeof a / sizeof a[0], 5);
    CHECK_EQ(a[4], 5);
    CHECK_EQ(sizeof greeting, 9);
    CHECK_EQ(greeting[5], 'd');
    return check_failures;
}
