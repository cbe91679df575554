// With layout [*] each thread has one block, the blocks are as even as they can be (6.5.1.1).
#include <upc.h>
#include "check.h"

shared [*] int a[5 * THREADS];
shared [*] double m[2 * THREADS][3];

int main(void)
{
    for (int i = 0; i < 5 * THREADS; i++)
        CHECK_EQ(upc_threadof(&a[i]), i / 5);
    for (int i = 0; i < 2 * THREADS; i++)
        for (int j = 0; j < 3; j++)
            CHECK_EQ(upc_threadof(&m[i][j]), (3 * i + j) / 6);
    return check_failures;
}
