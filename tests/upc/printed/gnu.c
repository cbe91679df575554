/* GNU C: statement expressions, typeof, labels as values, attributes, inline assembly, nested functions, ranges. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })

static __inline__ __attribute__((always_inline)) int twice(int x) { return 2 * x; }
extern int aliased __asm__("real_name");
int aliased = 17;
static int unused_one __attribute__((unused)), kept __attribute__((used, aligned(32))) = 3;
struct __attribute__((packed)) before { char c; int i; };
struct after { char c; int i; } __attribute__((packed, aligned(2)));
typedef int vector __attribute__((vector_size(16)));
typedef union { int *ip; float *fp; } transparent __attribute__((transparent_union));
static void cleaned(int *p) { printf("cleaned %d\n", *p); }
static void __attribute__((noinline, format(printf, 1, 2))) say(const char *format, ...);
static __thread int per_thread = 4;
struct empty { };
struct zero { int n; char data[0]; };

static void say(const char *format, ...)
{
    va_list args;
    __builtin_va_start(args, format);
    int first = __builtin_va_arg(args, int);
    printf(format, first);
    __builtin_va_end(args);
}

static int dispatch(const char *program)
{
    static void *const actions[] = { &&stop, &&increment, &&shift };
    int accumulator = 0;
    goto *actions[*program++ - '0'];
increment: __attribute__((unused))
    accumulator++;
    goto *actions[*program++ - '0'];
shift:
    accumulator <<= 1;
    goto *actions[*program++ - '0'];
stop:
    return accumulator;
}

static int take(transparent t) { return *t.ip; }

int main(void)
{
    int n = 5, __attribute__((cleanup(cleaned))) guard = 1;
    int outer(int x) { return x + n; }
    int filled[] = { [0 ... 2] = 7, [3] = 8, [4 ... 5] = 9 };
    struct { int x, y; } old = { x: 1, y: 2 };
    vector v = { 1, 2, 3, 4 }, w = v + v * v;
    __int128 wide = (__int128) 1 << 100;
    double _Complex z = 3.0 + 4.0i;
    __auto_type deduced = 2.5f;

    n += ({ int k = 0; for (int i = 0; i < 4; i++) { if (i == 2) continue; k += i; } k; });
    printf("%d %d %d %d\n", MAX(n, 3), MAX(2.5, n) > 9, n ?: 4, 0 ?: n);
    printf("%d %d %d %d\n", twice(4), aliased, kept, outer(10));
    printf("%zu %zu %zu %zu\n", sizeof(struct before), sizeof(struct after), sizeof(struct empty), sizeof(struct zero));
    printf("%d %d %d %d\n", filled[2], filled[5], old.y, w[3]);
    printf("%d %g %g %g\n", (int) (wide >> 98), __real__ z, __imag__ z, deduced);
    printf("%d %d %d\n", dispatch("1122210"), take(&n), __builtin_types_compatible_p(int, __typeof__(n)));
    printf("%zu %zu %d\n", __alignof__(double), __builtin_offsetof(struct after, i), __builtin_choose_expr(1, 3, "no"));
#if defined(__x86_64__)
    __asm__ volatile ("addl %[by], %0" : "+r"(n) : [by] "ri"(3) : "cc");
#else
    n += 3;
#endif
    say("%d\n", n);
    switch (n) {
        __label__ here;
    case 0:
        n++;
        __attribute__((fallthrough));
    case 1 ... 100:
        goto here;
    here:
        per_thread += n;
    }
    printf("%d %s\n", per_thread, _Generic(n, int: "int", default: "other"));
    _Static_assert(sizeof(int) == 4, "int");
    return unused_one;
}
