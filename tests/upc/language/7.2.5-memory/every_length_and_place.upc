// upc_memput, upc_memget and upc_memcpy of all small lengths at all alignments, with the bytes around untouched.
#include <upc.h>
#include "check.h"

enum { SIZE = 48 };
shared [SIZE] unsigned char a[SIZE * THREADS], b[SIZE * THREADS];

int main(void)
{
    int t = (MYTHREAD + 1) % THREADS, wrong = 0;
    unsigned char out[SIZE], in[SIZE];
    for (int i = 0; i < SIZE; i++)
        out[i] = 100 + i;
    for (int from = 0; from < 9; from += 2)
        for (int length = 0; length <= 20; length += 3) {
            upc_memset(&a[SIZE * t], 1, SIZE);
            upc_memset(&b[SIZE * t], 2, SIZE);
            upc_memput(&a[SIZE * t + from], out + 3, length);
            upc_memcpy(&b[SIZE * t + 5], &a[SIZE * t + from], length);
            upc_memget(in, &b[SIZE * t], SIZE);
            for (int i = 0; i < SIZE; i++) {
                wrong += a[SIZE * t + i] != (from <= i && i < from + length ? 103 + i - from : 1);
                wrong += in[i] != (5 <= i && i < 5 + length ? 98 + i : 2);
            }
        }
    CHECK_EQ(wrong, 0);
    return check_failures;
}
