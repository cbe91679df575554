// Compound literals in initialisers of static objects live as long as these (C11 6.5.2.5), also beside addresses of shared objects.
#include "check.h"

shared int x;
struct table { shared int *of; const int *values; };
struct table plain = {&x, (const int[]){1, 2, 3}};
shared struct table all = {&x, (const int[]){4, 5, 6}};
struct list { struct list *next; shared int *of; } *list = &(struct list){&(struct list){0, &x}, 0};
shared struct own { struct { int a; } *to; double _Complex *wide; } own = {.wide = &(double _Complex){7}};
struct pair { struct { int a, b; } inside; shared int *of; } pair = {.of = &x, .inside = {8, 9}};

// Uses the stack that the initialisers have used.
static int uses_the_stack(int n)
{
    volatile int used[400];
    for (int i = 0; i < 400; i++)
        used[i] = -n;
    return used[n];
}

int main(void)
{
    static struct table in_main = {&x, (const int[]){10, 11}};
    static shared struct table of_all = {&x, (const int[]){12, 13}};
    CHECK_EQ(uses_the_stack(5), -5);
    CHECK_EQ(plain.values[0], 1);
    CHECK_EQ(plain.values[2], 3);
    if (upc_threadof(&all) == (size_t)MYTHREAD) {
        CHECK_EQ(all.values[1], 5);
        CHECK_EQ(of_all.values[1], 13);
        CHECK_EQ((int)*own.wide, 7);
    }
    CHECK(list->of == NULL && list->next->of == &x && list->next->next == 0);
    CHECK_EQ(pair.inside.b, 9);
    CHECK_EQ(in_main.values[1], 11);
    return check_failures;
}
