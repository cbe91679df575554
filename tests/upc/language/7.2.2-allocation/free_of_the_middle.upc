// upc_free of a pointer that no allocation returned ends the program with a message (7.2.2).
// abort: upc_free
#include <upc.h>

int main(void)
{
    shared [] int *p = upc_alloc(64);
    upc_free(p + 3);
    return 0;
}
