// A shared object that is not an array has affinity to thread 0, whatever its layout (6.5.2).
#include <upc.h>
#include "check.h"

struct record { int a[3]; };
shared int plain;
shared [5] int with_layout;
shared [] double indefinite;
shared struct record record;
shared int *shared pointer;

int main(void)
{
    CHECK_EQ(upc_threadof(&plain), 0);
    CHECK_EQ(upc_threadof(&with_layout), 0);
    CHECK_EQ(upc_threadof(&indefinite), 0);
    CHECK_EQ(upc_threadof(&record), 0);
    CHECK_EQ(upc_threadof(&pointer), 0);
    return check_failures;
}
