// bupc_assert_type takes two types or expressions, which upcc must know.
#include <upc.h>

int main(void)
{
    int n = bupc_assert_type(int); // error: takes two types or expressions, not 1
    n += bupc_assert_type(int, long, char); // error: not 3
    return n + bupc_assert_type(__builtin_popcount(1), int); // error: only the C compiler does
}
