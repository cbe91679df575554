// A program may define NULL itself before it includes anything that does.
#ifndef NULL
#define NULL 0
#endif
#include <upc.h>

shared int v[THREADS];

int main(void)
{
    shared int *p = NULL;
    if (p != NULL) return 1;
    p = &v[MYTHREAD];
    *p = 1;
    return p == NULL || v[MYTHREAD] != 1;
}
