// UPC_CSWAP: a lock-free sum, built of compare and swap (7.4.3).
#include <stdint.h>
#include <upc_atomic.h>
#include "check.h"

shared uint64_t sum;

int main(void)
{
    upc_atomicdomain_t *domain = upc_all_atomicdomain_alloc(UPC_UINT64, UPC_CSWAP | UPC_GET, 0);
    for (int i = 0; i < 20; i++) {
        uint64_t found, expected, wanted;
        upc_atomic_relaxed(domain, &found, UPC_GET, &sum, NULL, NULL);
        do {
            expected = found;
            wanted = expected + 3;
            upc_atomic_relaxed(domain, &found, UPC_CSWAP, &sum, &expected, &wanted);
        } while (found != expected);
    }
    upc_barrier;
    CHECK_EQ(sum, 60 * THREADS);
    upc_all_atomicdomain_free(domain);
    return check_failures;
}
