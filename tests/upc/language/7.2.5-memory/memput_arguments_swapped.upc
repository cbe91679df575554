// upc_memput: the destination first (7.2.5).
#include <upc.h>

shared [4] int a[4 * THREADS];

int main(void)
{
    int x = 0;
    upc_memput(&x, &a[0], sizeof x); // error: .*
    return 0;
}
