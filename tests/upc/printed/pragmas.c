/* Pragmas at every level, and those that macros put into expressions. */
#include <stdio.h>

#pragma pack(push, 1)
struct tight { char c; int i; };
#pragma pack(pop)

#define QUIET(e) (__extension__({ _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused-variable\"") int q = 3; (e); }))

#pragma GCC diagnostic ignored "-Wunused-function"
static void never_called(void) { }

int main(void)
{
    int n = 0;
#pragma GCC unroll 4
    for (int i = 0; i < 8; i++)
        n += i;
    if (n)
    {
#pragma GCC diagnostic ignored "-Wunused-variable"
        int unused;
        n++;
    }
    n = n + QUIET(n + 1);
    printf("%zu %d\n", sizeof(struct tight), n);
    return 0;
}
