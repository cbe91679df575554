// In a file with upc_strict.h accesses are strict unless a pragma or a qualifier says otherwise (6.7.1, 7.1).
#include <upc_strict.h>
#include "check.h"

shared int flag[THREADS], data[THREADS];
relaxed shared int quick[THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS;
    {
#pragma upc relaxed
        data[next] = 5 * MYTHREAD + 1;
        for (int i = 0; i < 10; i++)
            quick[next] = i;
    }
    flag[next] = 1;
    while (flag[MYTHREAD] == 0)
        ;
    CHECK_EQ(data[MYTHREAD], 5 * ((MYTHREAD + THREADS - 1) % THREADS) + 1);
    CHECK_EQ(quick[MYTHREAD], 9);
    return check_failures;
}
