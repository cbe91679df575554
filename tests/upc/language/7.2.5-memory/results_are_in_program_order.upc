// A thread sees its own upc_memput, upc_memset and assignments in program order (5.1.2.3, 7.2.5).
#include <upc.h>
#include "check.h"

shared [64] int a[64 * THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS;
    int private[64];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 64; i++)
            private[i] = round * 64 + i;
        upc_memput(&a[64 * next], private, sizeof private);
        a[64 * next + 5] = -round;
        CHECK_EQ(a[64 * next + 5], -round);
        CHECK_EQ(a[64 * next + 6], round * 64 + 6);
        upc_memset(&a[64 * next + 6], 0, sizeof(int));
        upc_memget(private, &a[64 * next], sizeof private);
        CHECK(private[5] == -round && private[6] == 0 && private[63] == round * 64 + 63);
    }
    return check_failures;
}
