// upc_atomic.h: operations on int64_t in shared memory; none is lost, each returns what was there before (7.4.3).
#include <stdint.h>
#include <upc_atomic.h>
#include "check.h"

shared int64_t counter, bits, minimum, maximum;
shared int seen[200 * THREADS];

int main(void)
{
    upc_atomicdomain_t *domain = upc_all_atomicdomain_alloc(
        UPC_INT64, UPC_ADD | UPC_SUB | UPC_INC | UPC_OR | UPC_MIN | UPC_MAX | UPC_GET | UPC_SET, UPC_ATOMIC_HINT_DEFAULT);
    for (int i = 0; i < 50; i++) {
        int64_t before, two = 2, one = 1, bit = (int64_t)1 << (i % 40), value = 100 * MYTHREAD + i - 20;
        upc_atomic_relaxed(domain, &before, UPC_ADD, &counter, &two, NULL);
        CHECK(before >= 0 && before < 200 * THREADS);
        upc_atomic_relaxed(domain, NULL, UPC_SUB, &counter, &one, NULL);
        upc_atomic_strict(domain, NULL, UPC_INC, &counter, NULL, NULL);
        upc_atomic_relaxed(domain, NULL, UPC_OR, &bits, &bit, NULL);
        upc_atomic_relaxed(domain, NULL, UPC_MIN, &minimum, &value, NULL);
        upc_atomic_relaxed(domain, NULL, UPC_MAX, &maximum, &value, NULL);
    }
    upc_barrier;
    int64_t found;
    upc_atomic_strict(domain, &found, UPC_GET, &counter, NULL, NULL);
    CHECK_EQ(found, 100 * THREADS);
    CHECK_EQ(bits, ((int64_t)1 << 40) - 1);
    CHECK_EQ(minimum, -20);
    CHECK_EQ(maximum, 100 * (THREADS - 1) + 29);
    upc_all_atomicdomain_free(domain);
    return check_failures;
}
