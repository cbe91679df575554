// Through shared [] char * the bytes of an element are reached in their order in memory.
#include <upc.h>
#include "check.h"

struct record { unsigned char first; unsigned short second; unsigned char last[5]; };
shared [2] struct record a[2 * THREADS];

int main(void)
{
    int i = 2 * ((MYTHREAD + 1) % THREADS) + 1;
    struct record model = {1, 0x0302, {4, 5, 6, 7, 8}};
    a[i] = model;
    shared [] unsigned char *bytes = (shared [] unsigned char *)&a[i];
    for (size_t k = 0; k < sizeof model; k++)
        if (k != 1 && k < 9)
            CHECK_EQ(bytes[k], ((unsigned char *)&model)[k]);
    bytes[sizeof model.first + 1] = 9;
    CHECK_EQ(a[i].second & 0xff, 9);
    CHECK_EQ((shared [] unsigned char *)&a[i].last[2] - bytes, 6);
    CHECK_EQ(upc_threadof(bytes + 5), (MYTHREAD + 1) % THREADS);
    return check_failures;
}
