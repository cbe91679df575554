// Attributes at their usual places, of private things.
#include "check.h"

struct packed { char c; int i; } __attribute__((packed));
static int unused_one __attribute__((unused)) = 4;
static struct { char c; _Alignas(32) int i; } padded;
static int aligned_one __attribute__((aligned(64)));
__attribute__((noinline)) static int add(int a, int b) { return a + b; }
static void stop(const char *why) __attribute__((noreturn));
static void stop(const char *why) { fprintf(stderr, "%s\n", why); __builtin_abort(); }
static int formatted(char *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
shared struct packed p[THREADS];

#include <stdarg.h>
static int formatted(char *to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsprintf(to, format, list);
    va_end(list);
    return length;
}

int main(void)
{
    char text[30];
    if (THREADS < 1)
        stop("no threads");
    CHECK_EQ(sizeof(struct packed), 5);
    CHECK_EQ((unsigned long)&aligned_one % 64, 0);
    CHECK_EQ(_Alignof(aligned_one), 64);
    CHECK_EQ(_Alignof(padded.i), 32);
    CHECK_EQ(_Alignof(p[0]), 1);
    p[MYTHREAD].i = add(MYTHREAD, 1 << 20);
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(p[t].i, t + (1 << 20));
    CHECK_EQ(formatted(text, "%d-%s", p[0].i, "x"), 9);
    switch (THREADS) {
    case 1:
        p[0].c = 1;
        __attribute__((fallthrough));
    default:
        CHECK(1 == __builtin_expect(1, 1));
    }
    return check_failures;
}
