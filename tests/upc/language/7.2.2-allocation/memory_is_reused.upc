// What is freed can be allocated again: far more in all than fits at one time (7.2.2).
#include <upc.h>
#include "check.h"

shared int *shared handed;

int main(void)
{
    enum { BYTES = 100 * 1024 };
    for (int i = 0; i < 2000; i++) {
        shared [] char *p = upc_alloc(BYTES);
        CHECK(p != NULL);
        p[BYTES - 1] = 1;
        upc_free(p);
    }
    for (int i = 0; i < 200; i++) {
        shared [BYTES] char *p = upc_all_alloc(THREADS, BYTES);
        CHECK(p != NULL);
        p[(size_t)BYTES * MYTHREAD] = 1;
        upc_all_free(p);
    }
    return check_failures;
}
