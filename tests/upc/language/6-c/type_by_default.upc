// Where qualifiers have no type with them, C's compilers before C23 warn and take int.
#include "check.h"

int main(void)
{
    int i = 3;
    CHECK_EQ(*(const *)&i, 3); // warning: type defaults to .int. in type name
    return check_failures;
}
