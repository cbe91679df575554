/* C11: atomics, alignment, anonymous members, noreturn, thread-local storage, generic selection. */
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>

static _Atomic int counter;
static _Atomic(long) total = 5;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static _Thread_local int mine = 3;
alignas(64) static char line[64];
struct aligned { char c; _Alignas(16) int i; };
static int *_Atomic pointer;
_Static_assert(alignof(struct aligned) == 16, "aligned");

static noreturn void leave(int status) { exit(status); }

#define NAME(x) _Generic((x), int: "int", double: "double", char *: "string", default: "other")

int main(void)
{
    int here = 9;
    atomic_fetch_add(&counter, 4);
    counter += 2;
    total *= 3;
    atomic_store(&pointer, &here);
    printf("%d %ld %d %d\n", atomic_load(&counter), atomic_load(&total), *pointer, atomic_flag_test_and_set(&flag));
    printf("%s %s %s %s\n", NAME(1), NAME(1.0), NAME("s"), NAME(1L));
    printf("%d %zu %d\n", mine, alignof(double), (int) ((size_t) line % 64));
    leave(0);
}
