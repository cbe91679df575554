// Names that the runtime or C might use as well; labels, members and types of one name (C99 6.2.3).
#include "check.h"

struct shared_thing { int thread, phase, block, value; };
typedef struct shared_thing thing;
static int thread, phase, block, size, ptr, local, get, put, address;
shared thing things[THREADS];

int main(void)
{
    struct thing { int thing; } thing = {4};
    goto thing;
thing:
    thread = phase = block = size = ptr = local = get = put = address = thing.thing;
    things[MYTHREAD].thread = thread + phase + block + size + ptr + local + get + put + address;
    things[MYTHREAD].value = MYTHREAD;
    upc_barrier;
    CHECK_EQ(things[THREADS - 1].thread, 36);
    CHECK_EQ(things[THREADS - 1].value, THREADS - 1);
    return check_failures;
}
