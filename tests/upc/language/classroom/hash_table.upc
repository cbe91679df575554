// Open addressing in a cyclic shared array; slots are taken by compare and swap.
#include <upc_atomic.h>
#include "check.h"

enum { SLOTS = 32 };
shared long table[SLOTS * THREADS];
shared int inserted[THREADS];

int main(void)
{
    long n = SLOTS * THREADS;
    upc_atomicdomain_t *domain = upc_all_atomicdomain_alloc(UPC_LONG, UPC_CSWAP, 0);
    for (long i = 1; i <= 12; i++) {
        long key = 1000 * i + (i % 3 ? MYTHREAD : 0), empty = 0, found;  // every third key comes from all threads
        for (long slot = key * 31 % n;; slot = (slot + 1) % n) {
            upc_atomic_strict(domain, &found, UPC_CSWAP, &table[slot], &empty, &key);
            if (found == 0) {
                inserted[MYTHREAD]++;
                break;
            }
            if (found == key)
                break;
        }
    }
    upc_barrier;
    int sum = 0, used = 0;
    for (int t = 0; t < THREADS; t++)
        sum += inserted[t];
    for (long slot = 0; slot < n; slot++)
        used += table[slot] != 0;
    CHECK_EQ(sum, 8 * THREADS + 4);
    CHECK_EQ(used, sum);
    upc_all_atomicdomain_free(domain);
    return check_failures;
}
