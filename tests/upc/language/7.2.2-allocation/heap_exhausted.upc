// More than the heap holds: a message, no crash. The specification lets an allocation fail by ending the program.
// abort: (upc_all_alloc|upc_alloc|heap|memory)
#include <upc.h>
#include "check.h"

int main(void)
{
    for (int i = 0; i < 1000000; i++) {
        shared [] char *p = upc_alloc(1u << 26);
        if (p == NULL)
            return 0;
        p[0] = 1;
    }
    return 0;
}
