// A null pointer to shared casts to a null pointer (6.4.3).
#include <stddef.h>
#include "check.h"

int main(void)
{
    shared int *p = NULL;
    shared void *v = 0;
    CHECK((int *)p == NULL);
    CHECK((void *)v == NULL);
    CHECK((char *)(shared [] char *)v == NULL);
    return check_failures;
}
