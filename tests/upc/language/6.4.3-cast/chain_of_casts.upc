// A cast applies to the result of another cast.
#include <upc.h>
#include "check.h"

shared [4] long a[4 * THREADS];

int main(void)
{
    shared [] char *bytes = (shared [] char *)(shared void *)&a[4 * MYTHREAD + 1];
    CHECK_EQ(upc_threadof(bytes), MYTHREAD);
    a[4 * MYTHREAD + 1] = 0x41;
    CHECK_EQ(*bytes, 0x41);
    CHECK_EQ(*(long *)(shared [] long *)(shared void *)bytes, 0x41);
    CHECK_EQ(bytes[8] + *(char *)(bytes + 7), 0);
    return check_failures;
}
