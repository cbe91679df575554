// upc_lock_free and upc_all_lock_free of a null pointer do nothing (7.2.4).
#include <upc.h>
#include "check.h"

int main(void)
{
    upc_lock_t *lock = NULL;
    upc_lock_free(lock);
    upc_lock_free(NULL);
    upc_all_lock_free(NULL);
    CHECK(lock == NULL);
    return check_failures;
}
