// Structures allocated by several threads, linked by pointers to shared.
#include <upc.h>
#include "check.h"

struct node { int value; shared struct node *next; };
shared struct node *shared heads[THREADS];

int main(void)
{
    for (int i = 0; i < 5; i++) {
        shared struct node *n = upc_alloc(sizeof(struct node));
        n->value = 10 * MYTHREAD + i;
        n->next = heads[MYTHREAD];
        heads[MYTHREAD] = n;
    }
    upc_barrier;
    for (int t = 0; t < THREADS; t++) {
        int expected = 10 * t + 4;
        for (shared struct node *n = heads[t]; n; n = n->next)
            CHECK_EQ(n->value, expected--);
        CHECK_EQ(expected, 10 * t - 1);
    }
    upc_barrier;
    while (heads[MYTHREAD]) {
        shared struct node *rest = heads[MYTHREAD]->next;
        upc_free(heads[MYTHREAD]);
        heads[MYTHREAD] = rest;
    }
    return check_failures;
}
