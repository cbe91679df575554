// upc_memget's destination is private: a pointer to shared is no argument for it (7.2.5).
#include <upc.h>

shared [4] int a[4 * THREADS];

int main(void)
{
    upc_memget(&a[0], &a[0], 4); // error: .*
    return 0;
}
