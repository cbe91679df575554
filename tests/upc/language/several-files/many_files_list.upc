#include "many_files.h"

shared int pushes[THREADS];

shared [] struct item *pushed(shared [] struct item *list, int value)
{
    shared [] struct item *first = upc_alloc(sizeof(struct item));
    first->value = value;
    first->next = list;
    pushes[MYTHREAD]++;
    return first;
}

int released(shared [] struct item *list)
{
    int count = 0;
    while (list) {
        shared [] struct item *next = list->next;
        upc_free(list);
        list = next;
        count++;
    }
    return count;
}
