// shared void * casts to void * where the thread has affinity (6.4.3).
#include <string.h>
#include "check.h"

shared [8] char text[8 * THREADS];

int main(void)
{
    shared void *generic = &text[8 * MYTHREAD];
    void *mine = (void *)generic;
    memcpy(mine, "abcdefg", 8);
    upc_barrier;
    for (int i = 0; i < 8 * THREADS; i++)
        CHECK_EQ(text[i], "abcdefg"[i % 8]);
    return check_failures;
}
