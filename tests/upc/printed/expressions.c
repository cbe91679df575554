/* Precedence, associativity and side effects: each line is one that lost or gained parentheses would change. */
#include <stdio.h>

static int trace[16], traced;
static int seen(int v) { trace[traced++ & 15] = v; return v; }

int main(void)
{
    int a = 7, b = 3, c = 2, *p = &a, x, y, z;
    unsigned u = 0xf0u;
    double d = -1.5e-3, e = 0x1.8p3;

    printf("%d %d %d %d\n", a - b - c, a - (b - c), a / b / c, a / (b / c));
    printf("%d %d %d %d\n", a - -b, - -a, -(-a), a - - -b);
    printf("%d %d %d\n", a << (b + c), (a << b) + c, a >> 1 << 1);
    printf("%d %d %d %d\n", (a & b) == b, a & (b == 3), (a | b) ^ c, a | (b ^ c));
    printf("%d %d %d\n", (a < b) == (b < c), !a == !b, (!a) == b);
    printf("%d %d\n", (a && b) || c, a && (b || c));
    printf("%d %d\n", a > b ? b > c ? 1 : 2 : 3, (a > b ? b : c) > c ? 4 : 5);
    printf("%d %d\n", (seen(9), b), (x = 4, y = x + 1, y * 2));
    x = y = z = a * (b + c);
    printf("%d %d %d\n", x, y, z);
    x += y -= z /= 2;
    printf("%d %d %d\n", x, y, z);
    x = *p++ == 7; y = *--p; z = (*p)++ + 1;
    printf("%d %d %d %d\n", x, y, z, ++*p);
    printf("%d %zu %zu %zu\n", ~a & 0xff, sizeof a, sizeof(int) * 2, sizeof(a + 1L));
    printf("%d %d %u\n", (int) 3.9 + 1, (int) (3.9 + 1), (unsigned char) u << 4);
    printf("%g %g %g %g\n", d, e, (double) a / b, -d * 2);
    if ((x = seen(3)) && (y = seen(0)))
        printf("never\n");
    else if ((z = seen(5)))
        printf("%d %d %d\n", x, y, z);
    while ((x = x - 1) > 0 && seen(x))
        ;
    do
        y += x;
    while ((x++, x < 3));
    for (x = 0, y = 10; x < y; x++, y--)
        if (x & 1)
            continue;
        else if (x == 4)
            break;
    printf("%d %d", x, y);
    for (x = 0; x < traced; x++)
        printf(" %d", trace[x]);
    printf("\n%c%c%s %d\n", '\'', '\\', "\"\t\x41" "1\0012" "\?\?(" "tail", 'a' == 97);
    printf("%ld %lu %lld %d %d\n", 10L, 10UL, 1LL << 33, 0b101, 010);
    return 0;
}
