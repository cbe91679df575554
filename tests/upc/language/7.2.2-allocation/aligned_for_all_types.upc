// Allocated memory is aligned for any type.
#include <stdint.h>
#include <upc.h>
#include "check.h"

int main(void)
{
    for (int bytes = 1; bytes < 40; bytes += 3) {
        shared [] char *p = upc_alloc(bytes);
        CHECK_EQ((uintptr_t)(char *)p % _Alignof(max_align_t), 0);
        shared [] long double *q = (shared [] long double *)p;
        CHECK_EQ(upc_addrfield(q) % sizeof(double), 0);
        upc_free(p);
    }
    return check_failures;
}
