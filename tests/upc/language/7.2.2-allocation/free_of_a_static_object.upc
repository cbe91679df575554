// upc_free of an object that was not allocated ends the program with a message (7.2.2).
// abort: upc_free
#include <upc.h>

shared int a[4 * THREADS];

int main(void)
{
    upc_free(a);
    return 0;
}
