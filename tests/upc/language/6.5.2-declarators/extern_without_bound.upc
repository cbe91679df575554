// An extern shared array of unknown bound may be declared before its definition (C99 6.7.5.2).
#include "check.h"

extern shared [] int table[];

static int third(void) { return table[2]; }

shared [] int table[4] = {1, 2, 3, 4};

int main(void)
{
    CHECK_EQ(third(), 3);
    CHECK_EQ(sizeof table, 4 * sizeof(int));
    return check_failures;
}
