// Private objects and functions of another UPC file; initialisers of pointers to another file's shared objects.
// files: private_globals_other.upc
#include "check.h"

extern int level;
extern shared int target;
extern const char *const names[3];
shared int *to_target = &target;
int raise_level(int by);

int main(void)
{
    CHECK_EQ(level, 4);
    CHECK_EQ(raise_level(MYTHREAD), 4 + MYTHREAD);
    CHECK_EQ(level, 4 + MYTHREAD);
    CHECK(to_target == &target);
    CHECK_EQ(*to_target, 12);
    CHECK_EQ(names[2][0], 'c');
    return check_failures;
}
