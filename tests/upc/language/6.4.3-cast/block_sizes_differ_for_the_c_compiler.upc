// Block sizes that only the C compiler knows are compared by it, and must be the same without a cast (6.4.3).
#include <upc.h>

struct packed { char c; short s; } __attribute__((packed));
shared [sizeof(struct packed)] char a[6 * THREADS];

int main(void)
{
    shared [3] char *three = a;
    shared [2] char *two = a; // error: the block sizes differ
    two = (shared [2] char *)three;
    return two == (shared [2] char *)a;
}
