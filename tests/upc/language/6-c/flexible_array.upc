// A structure with a flexible array member in allocated shared memory (C99 6.7.2.1).
#include <upc.h>
#include "check.h"

struct list { int count; int values[]; };
shared [] struct list *shared lists[THREADS];

int main(void)
{
    int count = 3 + MYTHREAD;
    shared [] struct list *l = upc_alloc(sizeof(struct list) + count * sizeof(int));
    l->count = count;
    for (int i = 0; i < count; i++)
        l->values[i] = 10 * MYTHREAD + i;
    lists[MYTHREAD] = l;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < lists[t]->count; i++)
            CHECK_EQ(lists[t]->values[i], 10 * t + i);
    upc_barrier;
    upc_free(l);
    return check_failures;
}
