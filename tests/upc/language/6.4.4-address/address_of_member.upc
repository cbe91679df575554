// & of a member of a shared structure: a pointer to shared of indefinite block size, to the structure's thread (6.4.4).
#include <stddef.h>
#include <upc.h>
#include "check.h"

struct record { char tag; double value; int list[3]; };
shared struct record a[2 * THREADS];

int main(void)
{
    for (int i = 0; i < 2 * THREADS; i++) {
        shared [] double *v = &a[i].value;
        shared [] int *l = &a[i].list[1];
        CHECK_EQ(upc_threadof(v), i % THREADS);
        CHECK_EQ(upc_threadof(l), i % THREADS);
        CHECK_EQ(upc_phaseof(v), 0);
        CHECK_EQ(upc_addrfield(v) - upc_addrfield(&a[i]), offsetof(struct record, value));
        CHECK_EQ(upc_addrfield(l) - upc_addrfield(&a[i]), offsetof(struct record, list) + sizeof(int));
    }
    return check_failures;
}
