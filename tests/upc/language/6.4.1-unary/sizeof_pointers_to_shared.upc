// All pointers to shared are alike in size, whatever they point to.
#include "check.h"

struct holder { shared [4] double *p; };

int main(void)
{
    CHECK_EQ(sizeof(shared int *), sizeof(shared void *));
    CHECK_EQ(sizeof(shared [] char *), sizeof(shared void *));
    CHECK_EQ(sizeof(shared [17] double *), sizeof(shared void *));
    CHECK_EQ(sizeof(struct holder), sizeof(shared void *));
    CHECK_EQ(sizeof(shared int *[5]), 5 * sizeof(shared void *));
    return check_failures;
}
