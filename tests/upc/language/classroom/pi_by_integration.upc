// Pi as the integral of 4 / (1 + x^2), the sum collected under a lock.
#include <math.h>
#include <upc.h>
#include "check.h"

shared double pi;

int main(void)
{
    enum { INTERVALS = 10000 };
    upc_lock_t *lock = upc_all_lock_alloc();
    double local = 0;
    upc_forall (int i = 0; i < INTERVALS; i++; i) {
        double x = (i + 0.5) / INTERVALS;
        local += 4.0 / (1.0 + x * x);
    }
    upc_lock(lock);
    pi += local / INTERVALS;
    upc_unlock(lock);
    upc_barrier;
    CHECK(fabs(pi - 3.14159265358979) < 1e-8);
    upc_all_lock_free(lock);
    return check_failures;
}
