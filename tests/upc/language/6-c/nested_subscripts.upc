// Shared reads inside the subscripts of shared reads and writes.
#include "check.h"

shared [2] int next[4 * THREADS];
shared int value[4 * THREADS];

int main(void)
{
    int n = 4 * THREADS;
    upc_forall (int i = 0; i < n; i++; &next[i]) {
        next[i] = (i * 3 + 1) % n;
        value[i] = i;
    }
    upc_barrier;
    for (int i = 0; i < n; i++) {
        int one = (i * 3 + 1) % n, two = (one * 3 + 1) % n;
        CHECK_EQ(value[next[next[i]]], two);
        CHECK_EQ(next[value[next[i]]], two);
    }
    upc_barrier;
    if (MYTHREAD == 0)
        value[next[value[1]]] = next[value[next[0]]] + value[value[2]] * 100;
    upc_barrier;
    CHECK_EQ(value[4 % n], 4 % n + 200);
    return check_failures;
}
