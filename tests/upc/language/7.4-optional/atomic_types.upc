// Atomic domains of the other types (7.4.3).
#include <upc_atomic.h>
#include "check.h"

#define TEST(type, name, ops)                                                               \
    do {                                                                                    \
        static shared type target[THREADS];                                                 \
        upc_atomicdomain_t *domain = upc_all_atomicdomain_alloc(name, ops, 0);              \
        type one = 1, found = 0;                                                            \
        for (int t = 0; t < THREADS; t++)                                                   \
            upc_atomic_relaxed(domain, &found, UPC_ADD, &target[t], &one, NULL);            \
        CHECK(found >= 0 && found < THREADS);                                               \
        upc_barrier;                                                                        \
        CHECK(target[MYTHREAD] == THREADS);                                                 \
        upc_all_atomicdomain_free(domain);                                                  \
    } while (0)

int main(void)
{
    TEST(int, UPC_INT, UPC_ADD);
    TEST(long, UPC_LONG, UPC_ADD | UPC_GET);
    TEST(float, UPC_FLOAT, UPC_ADD);
    TEST(double, UPC_DOUBLE, UPC_ADD | UPC_SET);
    return check_failures;
}
