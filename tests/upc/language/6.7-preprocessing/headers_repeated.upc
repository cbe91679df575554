// The headers may be included several times and in any order (7.1).
#include <upc.h>
#include <stdlib.h>
#include <upc_relaxed.h>
#include <upc.h>
#include <upc_collective.h>
#include <stdio.h>
#include <upc_relaxed.h>
#include <upc_collective.h>
#include "check.h"

int main(void)
{
    upc_lock_t *lock = upc_all_lock_alloc();
    CHECK(lock != NULL);
    CHECK(abs(-3) == 3);
    return check_failures;
}
