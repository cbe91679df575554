// A layout that only the C compiler knows cannot be used where another name hides one that it depends on.
#include <upc.h>

struct packed { char c; short s; } __attribute__((packed));
typedef struct packed type;
enum { SIZE = sizeof(struct packed), THREE = 3 };
static struct packed object;
shared [SIZE] char blocks[SIZE * THREADS];
shared [] char rows[4][sizeof(type)];
shared [] char columns[4][sizeof(object)];
shared [THREE] char known[THREE * THREADS];

int main(void)
{
    int THREE = 4;
    {
        int SIZE = 100;
        blocks[SIZE] = 0; // error: depends on 'SIZE'
        rows[1][1] = known[THREE];
    }
    int type = 0, object = 0;
    rows[1][type] = 0; // error: depends on 'type'
    columns[1][object] = 0; // error: depends on 'object'
    struct { char c; } packed = {0};
    return blocks[(int)packed.c];
}
