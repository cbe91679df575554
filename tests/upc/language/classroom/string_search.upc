// A text in blocks is searched for a word; matches may lie across the borders of blocks.
#include <string.h>
#include <upc.h>
#include "check.h"

enum { PART = 20 };
shared [PART] char text[PART * THREADS];
shared int matches[THREADS];

int main(void)
{
    const char *pattern = "abcab", *unit = "abcabxcab";
    int n = PART * THREADS, length = strlen(pattern);
    upc_forall (int i = 0; i < n; i++; &text[i])
        text[i] = unit[i % 9];
    upc_barrier;
    upc_forall (int i = 0; i + length <= n; i++; &text[i]) {
        int k = 0;
        while (k < length && text[i + k] == pattern[k])
            k++;
        matches[MYTHREAD] += k == length;
    }
    upc_barrier;
    int sum = 0, expected = 0;
    for (int t = 0; t < THREADS; t++)
        sum += matches[t];
    for (int i = 0; i + length <= n; i++) {
        int same = 1;
        for (int k = 0; k < length; k++)
            same = same && unit[(i + k) % 9] == pattern[k];
        expected += same;
    }
    CHECK_EQ(sum, expected);
    return check_failures;
}
