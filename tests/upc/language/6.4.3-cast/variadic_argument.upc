// C's functions that take any number of arguments do not know a pointer-to-shared: it is not converted to what the format says.
#include <stdio.h>
#include <upc.h>

shared int x, *p = &x;
shared [4] int a[4 * THREADS];
static int any(int count, ...) { return count; } // may take it by va_arg(list, shared int *)

int main(void)
{
    char text[80];
    printf("%p\n", p); // warning: argument 2 of 'printf', which takes any number of arguments, is a pointer-to-shared
    snprintf(text, sizeof text, "%d %p", x, &a[1]); // warning: argument 5 of 'snprintf'
    upc_forall (int i = 0; i < 4 * THREADS; i++; &a[i]) printf("%d %p\n", a[i], &a[i]); // warning: argument 3 of 'printf'
    printf("%d %zu %zu %p\n", *p, upc_threadof(p), upc_addrfield(p), (void *)&a[MYTHREAD]);
    return any(0, x, a[0], p, &a[1], sizeof p);
}
