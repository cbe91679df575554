// Assignments of pointers to shared and of shared values as conditions of loops.
#include <upc.h>
#include "check.h"

struct node { int value; shared struct node *next; };

int main(void)
{
    shared struct node *first = NULL, *n, *next;
    for (int i = 0; i < 6; i++) {
        n = upc_alloc(sizeof *n);
        n->value = 6 - i;
        n->next = first;
        first = n;
    }
    int sum = 0, value;
    n = first;
    do
        sum = sum * 10 + n->value;
    while ((n = n->next));
    CHECK_EQ(sum, 123456);
    n = first;
    while ((value = n->value) < 4)
        n = n->next;
    CHECK_EQ(value, 4);
    CHECK_EQ(n->next->next->value, 6);
    shared struct node *shared *link = NULL;
    CHECK(link == NULL);
    for (n = first; n != NULL && (next = n->next, 1); n = next)
        upc_free(n);
    return check_failures;
}
