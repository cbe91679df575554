/* Declarators of every shape, typedef names hidden by objects of the same name, qualifiers between the stars. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int number;
typedef number (*binary)(number, number);
typedef struct node { struct node *next; number value; } node;

static number add(number a, number b) { return a + b; }
static number sub(number a, number b) { return a - b; }

/* A function that takes a char and returns a pointer to a function. */
static number (*choose(char op))(number, number)
{
    return op == '+' ? add : sub;
}

static number (*const table[2])(number, number) = { add, sub };
static int matrix[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };

static int sum_row(int (*row)[3]) { int s = 0; for (int i = 0; i < 3; i++) s += (*row)[i]; return s; }
static int sum_vla(int n, int m, int a[n][m]) { int s = 0; for (int i = 0; i < n * m; i++) s += a[0][i]; return s; }
static size_t length(const char s[static 1]) { return strlen(s); }
static int last(int count, int (*of)(const int *restrict, int), const int *values) { return of(values, count); }
static int at_end(const int *restrict v, int n) { return v[n - 1]; }

int (paren), *(*pp), volatile_after = 3;
const char *const *names(void) { static const char *const all[] = { "one", "two", NULL }; return all; }
unsigned long long int ull = 1ULL << 40;
long unsigned mixed = 0xffu;

int main(void)
{
    number number = 7;
    node *node = malloc(sizeof *node), *other = node;
    binary f = choose('-'), g[2] = { choose('+'), f };
    int *const fixed = &matrix[1][0], (*row)[3] = matrix + 1, count = 0;
    int values[] = { 3, 1, 4, 1, 5 };

    other->value = number * 2;
    node->next = NULL;
    paren = 5;
    int *p = &paren;
    pp = &p;
    printf("%d %d %d %d\n", f(10, 3), g[0](10, 3), table[1](1, 2), (*table[0])(1, 2));
    printf("%d %d %d %zu\n", sum_row(row), sum_vla(2, 3, matrix), *fixed, length("four"));
    printf("%d %d %d %s\n", node->value, **pp, last(5, at_end, values), names()[1]);
    for (const char *const *name = names(); *name; name++, count++)
        printf("%s ", *name);
    printf("%d %llu %lu %d\n", count, ull, mixed, volatile_after);
    printf("%zu %zu %zu\n", sizeof(int (*)[3]), sizeof(int[3][2]), sizeof(binary (*(*)(void))(int)));
    free(node);
    return 0;
}
