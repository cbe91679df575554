// Every predefined operation of upc_all_reduce (7.3.4).
#include <upc_collective.h>
#include "check.h"

shared [2] unsigned a[4 * THREADS];
shared unsigned result;

static unsigned reduced(upc_op_t op)
{
    upc_all_reduceUI(&result, a, op, 4 * THREADS, 2, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    unsigned value = result;
    upc_barrier;
    return value;
}

int main(void)
{
    int n = 4 * THREADS;
    upc_forall (int i = 0; i < n; i++; &a[i])
        a[i] = i == 3 ? 0x70u : 0x31u + (i & 1);
    unsigned sum = 0, product = 1, and = ~0u, or = 0, xor = 0, least = ~0u, most = 0, all = 1, any = 0;
    for (int i = 0; i < n; i++) {
        unsigned x = i == 3 ? 0x70u : 0x31u + (i & 1);
        sum += x;
        product *= x;
        and &= x;
        or |= x;
        xor ^= x;
        least = x < least ? x : least;
        most = x > most ? x : most;
        all = all && x;
        any = any || x;
    }
    CHECK_EQ(reduced(UPC_ADD), sum);
    CHECK_EQ(reduced(UPC_MULT), product);
    CHECK_EQ(reduced(UPC_AND), and);
    CHECK_EQ(reduced(UPC_OR), or);
    CHECK_EQ(reduced(UPC_XOR), xor);
    CHECK_EQ(reduced(UPC_MIN), least);
    CHECK_EQ(reduced(UPC_MAX), most);
    CHECK_EQ(reduced(UPC_LOGAND), all);
    CHECK_EQ(reduced(UPC_LOGOR), any);
    return check_failures;
}
