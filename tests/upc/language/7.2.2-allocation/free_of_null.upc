// upc_free and upc_all_free of a null pointer do nothing (7.2.2).
#include <upc.h>
#include "check.h"

int main(void)
{
    shared int *p = NULL;
    upc_free(p);
    upc_free(NULL);
    upc_free(0);
    upc_all_free(p);
    CHECK(p == NULL);
    return check_failures;
}
