// A size of zero gives a null pointer (7.2.2).
#include <upc.h>
#include "check.h"

int main(void)
{
    CHECK(upc_alloc(0) == NULL);
    CHECK(upc_global_alloc(0, 8) == NULL);
    CHECK(upc_global_alloc(8, 0) == NULL);
    CHECK(upc_all_alloc(0, 8) == NULL);
    CHECK(upc_all_alloc(THREADS, 0) == NULL);
    return check_failures;
}
