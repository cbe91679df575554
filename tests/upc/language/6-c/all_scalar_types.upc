// Shared objects of every scalar type.
#include <complex.h>
#include <stdint.h>
#include "check.h"

#define TYPES(X)                                                                                            \
    X(a, _Bool, 1) X(b, char, 'x') X(c, signed char, -7) X(d, unsigned char, 200) X(e, short, -30000)       \
    X(f, unsigned short, 60000) X(g, int, -2000000000) X(h, unsigned, 4000000000u) X(i, long, -1099511627776l) \
    X(j, unsigned long, ~0ul) X(k, long long, 1ll << 62) X(l, unsigned long long, 3ull << 62)               \
    X(m, float, 0.5f) X(n, double, -1e300) X(o, long double, 1.5L) X(p, int8_t, -128) X(q, uint64_t, 1)     \
    X(r, __int128, (__int128)1 << 100)
#define DECLARE(name, type, value) shared type name[THREADS];
#define USE(name, type, value)              \
    name[peer] = value;                     \
    CHECK(name[peer] == (type)(value));     \
    {                                       \
        type x = name[peer];                \
        CHECK(x == name[peer]);             \
    }

TYPES(DECLARE)
shared double _Complex number[THREADS];
shared float _Complex small[THREADS];

int main(void)
{
    int peer = (MYTHREAD + 1) % THREADS;
    TYPES(USE)
    number[peer] = 1.5 + 2.0 * I;
    CHECK(creal(number[peer]) == 1.5 && cimag(number[peer]) == 2.0);
    number[peer] *= I;
    CHECK(creal(number[peer]) == -2.0);
    small[peer] = conjf(1.0f + 3.0f * I);
    CHECK(cimagf(small[peer]) == -3.0f);
    return check_failures;
}
