// Storage classes and qualifiers of private objects: register, volatile, inline functions, _Alignas, _Noreturn, __thread.
#include <stdalign.h>
#include "check.h"

static volatile int v;
static __thread int per_thread = 5;
static alignas(32) char buffer[8];
static inline int twice(register int x) { return 2 * x; }
extern int declared_only(shared int *);
shared int a[THREADS];

int main(void)
{
    register int i = twice(4);
    v = i;
    a[MYTHREAD] = v + per_thread++;
    CHECK_EQ(a[MYTHREAD], 13);
    CHECK_EQ(per_thread, 6);
    CHECK_EQ((unsigned long)buffer % 32, 0);
    return check_failures;
}
