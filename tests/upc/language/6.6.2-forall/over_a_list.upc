// A upc_forall whose variable walks over a list, the affinity is where the node lies.
#include <upc.h>
#include "check.h"

struct node { int visited; shared struct node *next; };
shared struct node *shared first[THREADS];

int main(void)
{
    shared struct node *mine = upc_alloc(sizeof(struct node));
    mine->visited = 0;
    first[MYTHREAD] = mine;
    upc_barrier;
    mine->next = MYTHREAD + 1 < THREADS ? first[MYTHREAD + 1] : NULL;
    upc_barrier;
    shared struct node *n;
    upc_forall (n = first[0]; n != NULL; n = n->next; n)
        n->visited += MYTHREAD + 1;
    upc_barrier;
    int count = 0;
    for (n = first[0]; n; n = n->next)
        CHECK_EQ(n->visited, ++count);
    CHECK_EQ(count, THREADS);
    upc_barrier;
    upc_free(mine);
    return check_failures;
}
