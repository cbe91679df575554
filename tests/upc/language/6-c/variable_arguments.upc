// Functions of variable arguments: values of shared objects and pointers to shared among them (C99 7.15).
#include <stdarg.h>
#include "check.h"

shared int a[THREADS];

static int total(int count, ...)
{
    va_list list;
    va_start(list, count);
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += va_arg(list, int);
    shared int *p = va_arg(list, shared int *);
    double d = va_arg(list, double);
    va_end(list);
    return sum + *p + (int)d;
}

int main(void)
{
    char text[40];
    a[MYTHREAD] = 10 + MYTHREAD;
    upc_barrier;
    int peer = (MYTHREAD + 1) % THREADS;
    CHECK_EQ(total(2, a[peer], a[MYTHREAD], &a[0], 2.5), 20 + peer + MYTHREAD + 10 + 2);
    snprintf(text, sizeof text, "%d %c %.1f", a[peer], 'a' + a[0], a[0] / 4.0);
    CHECK_EQ(text[0], '1');
    CHECK_EQ(text[3], 'k');
    return check_failures;
}
