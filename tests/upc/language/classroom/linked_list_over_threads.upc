// One sorted list whose nodes lie with all threads: insertion under a lock, then a walk over it.
#include <upc.h>
#include "check.h"

typedef shared struct node *list;
struct node { int key; list next; };
shared list first;

static void insert(int key)
{
    list n = upc_alloc(sizeof(struct node));
    n->key = key;
    if (first == NULL || first->key >= key) {
        n->next = first;
        first = n;
        return;
    }
    list before = first;
    while (before->next != NULL && before->next->key < key)
        before = before->next;
    n->next = before->next;
    before->next = n;
}

int main(void)
{
    upc_lock_t *lock = upc_all_lock_alloc();
    for (int i = 0; i < 6; i++) {
        upc_lock(lock);
        insert((i * 37 + MYTHREAD * 11) % 50);
        upc_unlock(lock);
    }
    upc_barrier;
    int nodes = 0, before = -1, per_thread[THREADS];
    for (int t = 0; t < THREADS; t++)
        per_thread[t] = 0;
    for (list n = first; n != NULL; n = n->next) {
        CHECK(n->key >= before);
        before = n->key;
        nodes++;
        per_thread[upc_threadof(n)]++;
    }
    CHECK_EQ(nodes, 6 * THREADS);
    CHECK_EQ(per_thread[MYTHREAD], 6);
    return check_failures;
}
