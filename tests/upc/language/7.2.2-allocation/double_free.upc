// Memory freed twice ends the program with a message (7.2.2).
// abort: upc_free
#include <upc.h>

int main(void)
{
    shared [] int *p = upc_alloc(16);
    upc_free(p);
    upc_free(p);
    return 0;
}
