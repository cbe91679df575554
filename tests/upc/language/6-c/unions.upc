// Unions in shared memory, anonymous members of structures (C11 6.7.2.1).
#include <stdint.h>
#include "check.h"

struct tagged {
    int kind;
    union {
        int64_t whole;
        double real;
        struct { int16_t low, high; };
    };
};
shared struct tagged a[THREADS];

int main(void)
{
    int peer = (MYTHREAD + 1) % THREADS;
    a[peer].kind = 1;
    a[peer].whole = 0x30002;
    CHECK_EQ(a[peer].low, 2);
    CHECK_EQ(a[peer].high, 3);
    a[peer].high = 5;
    CHECK_EQ(a[peer].whole, 0x50002);
    a[peer].real = 1.0;
    CHECK_EQ(a[peer].whole, 0x3ff0000000000000);
    CHECK_EQ(a[peer].kind, 1);
    return check_failures;
}
