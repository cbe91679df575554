// The sieve of Eratosthenes: each thread strikes out the multiples of the primes it owns, after all smaller ones.
#include "check.h"

enum { PART = 50 };
#define N (PART * THREADS)
shared [PART] char composite[PART * THREADS];

int main(void)
{
    for (int p = 2; p * p < N; p++) {
        if (!composite[p])
            upc_forall (int m = p * p; m < N; m += p; &composite[m])
                composite[m] = 1;
        upc_barrier;
    }
    int count = 0;
    for (int i = 2; i < N; i++) {
        int prime = 1;
        for (int d = 2; d * d <= i; d++)
            prime = prime && i % d;
        CHECK_EQ(!composite[i], prime);
        count += prime;
    }
    CHECK(count >= 15);
    return check_failures;
}
