#include "many_files.h"

int sum_of_list(shared [] struct item *list)
{
    int sum = 0;
    for (; list != NULL; list = list->next)
        sum += value_of(list);
    return sum;
}
