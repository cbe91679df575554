// UPC_PTS: pointers to shared are set, got and swapped atomically: a stack of nodes (7.4.3).
#include <upc_atomic.h>
#include "check.h"

struct node { int value; shared [] struct node *next; };
typedef shared [] struct node *link;
shared void *shared top;

int main(void)
{
    upc_atomicdomain_t *domain = upc_all_atomicdomain_alloc(UPC_PTS, UPC_CSWAP | UPC_GET | UPC_SET, 0);
    for (int i = 0; i < 5; i++) {
        link node = upc_alloc(sizeof(struct node));
        shared void *found, *expected, *wanted = node;
        node->value = 10 * MYTHREAD + i;
        upc_atomic_strict(domain, &found, UPC_GET, &top, NULL, NULL);
        do {
            expected = found;
            node->next = expected;
            upc_fence;
            upc_atomic_strict(domain, &found, UPC_CSWAP, &top, &expected, &wanted);
        } while (found != expected);
    }
    upc_barrier;
    int sum = 0, nodes = 0;
    for (link n = top; n != NULL; n = n->next, nodes++)
        sum += n->value;
    CHECK_EQ(nodes, 5 * THREADS);
    CHECK_EQ(sum, 50 * THREADS * (THREADS - 1) / 2 + 10 * THREADS);
    upc_all_atomicdomain_free(domain);
    return check_failures;
}
