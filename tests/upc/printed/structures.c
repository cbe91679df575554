/* Structures, unions, bit-fields, enumerations and their initialisers. */
#include <stddef.h>
#include <stdio.h>

enum colour { RED, GREEN = 5, BLUE, LAST = BLUE | 8, } colour = BLUE;
typedef struct { unsigned a : 3, b : 5; signed c : 4; unsigned : 0; unsigned d : 1; } bits;
struct point { double x, y; } origin = { 0 }, *where = &origin;
union number { int i; float f; struct { unsigned char low, rest[3]; }; };
struct outer {
    int kind;
    union { int whole; struct { short half[2]; } parts; };
    struct point at[2];
    const char *name;
    struct outer *next, *previous;
    int (*call)(struct outer *, int);
};
struct flexible { int count; int items[]; };

static int call(struct outer *self, int n) { return self->kind + n; }
static struct outer list[] = {
    [2] = { .kind = 2, .whole = 0x10002, .at = { [1] = { .y = 2.5 } }, .name = "two", .call = call },
    [0] = { 1, { 7 }, { { 1, 2 }, { 3, 4 } }, "zero", &list[2], NULL, call },
};
static struct flexible flexible = { 3, { 1, 2, 3 } };
static const struct { const char *name; int value; } table[] = { { "a", 1 }, { "b", 2 }, { NULL, 0 } };
static int primes[] = {
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113,
    127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199, 211, 223, 227, 229, 233, 239, 241, 251,
};

static struct point scaled(struct point p, double by) { return (struct point) { .x = p.x * by, .y = p.y * by }; }

int main(void)
{
    bits b = { .a = 9 & 7, .b = 17, .c = -3, 1 };
    union number n = { .f = 1.0f };
    struct point p = scaled((struct point) { 1, 2 }, 3), q[2] = { p, [1].x = 4 };
    int *literal = (int[]) { 10, 20, 30 }, sum = 0;

    b.c++;
    for (size_t i = 0; i < sizeof primes / sizeof primes[0]; i++)
        sum += primes[i];
    printf("%d %d %d %d %zu\n", b.a, b.b, b.c, b.d, sizeof b);
    printf("%d %d %d %d %d\n", RED, GREEN, colour, LAST, n.rest[2]);
    printf("%g %g %g %g %g\n", p.x, p.y, q[1].x, q[0].y, where->x);
    printf("%s %d %g %d %d\n", list[0].next->name, list[2].parts.half[0], list[2].at[1].y, list[0].call(&list[0], 5), list[1].kind);
    printf("%zu %d %d %s %d\n", offsetof(struct outer, at[1].y), literal[2], flexible.items[2], table[1].name, sum);
    return 0;
}
