// upc_nb.h with implicit handles: all complete after upc_synci (7.4.4).
#include <upc_nb.h>
#include "check.h"

shared [8] int a[8 * THREADS], b[8 * THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS, out[8], in[8];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 8; i++)
            out[i] = 1000 * round + 100 * MYTHREAD + i;
        upc_memput_nbi(&a[8 * next], out, sizeof out);
        upc_memset_nbi(&b[8 * next], round, 4 * sizeof(int));
        upc_synci();
        upc_barrier;
        upc_memget_nbi(in, &a[8 * MYTHREAD], sizeof in);
        upc_memcpy_nbi(&b[8 * next + 4], &a[8 * next], 4 * sizeof(int));
        while (!upc_synci_attempt())
            ;
        int writer = (MYTHREAD + THREADS - 1) % THREADS;
        for (int i = 0; i < 8; i++)
            CHECK_EQ(in[i], 1000 * round + 100 * writer + i);
        upc_barrier;
        CHECK_EQ(b[8 * MYTHREAD + 3], 0x01010101 * round);
        CHECK_EQ(b[8 * MYTHREAD + 7], 1000 * round + 100 * writer + 3);
        upc_barrier;
    }
    return check_failures;
}
