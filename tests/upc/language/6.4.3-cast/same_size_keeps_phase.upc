// A cast to an element type of the same size and block size keeps the phase (6.4.3).
#include <upc.h>
#include "check.h"

typedef struct { unsigned low : 4, high : 28; } fields;
typedef struct { shared int *p; } holder;
typedef int four __attribute__((vector_size(16)));
struct packed { char c; short s; } __attribute__((packed));
shared [4] int a[8 * THREADS];
shared [4] unsigned long words[8 * THREADS];
shared [sizeof(struct packed)] char bytes[6 * THREADS];
shared [3] char *global = &bytes[2];
shared [4] four vectors[8 * THREADS];

/* The same where only the C compiler knows the sizes: phases that are right whatever they are. */
static void sizes_of_the_c_compiler(int i)
{
    shared [4] fields *f = (shared [4] fields *)&a[i];
    CHECK_EQ(upc_phaseof(f), sizeof(fields) == sizeof(int) ? i % 4 : 0);
    f[1].high = i;
    CHECK_EQ(a[i + 1] >> 4, i);
    shared [4] holder *h = (shared [4] holder *)&words[i];
    CHECK_EQ(upc_phaseof(h), sizeof(holder) == sizeof(long) ? i % 4 : 0);
    shared [4] int *one = (shared [4] int *)&vectors[i];
    CHECK_EQ(upc_phaseof(one), 0);
    shared [3] char *cast = (shared [3] char *)&bytes[i % 6], *assigned = global;
    CHECK_EQ(upc_phaseof(cast), i % 3);
    CHECK_EQ(upc_phaseof((shared [4] char *)&bytes[i % 6]), 0);
    CHECK_EQ(upc_phaseof(assigned), 2);
    assigned = &bytes[i % 6];
    CHECK(assigned == cast && upc_phaseof(assigned) == i % 3);
    shared [sizeof(struct packed)] char *back = THREADS ? assigned : bytes;
    CHECK_EQ(back - bytes, i % 6);
    CHECK_EQ(upc_threadof(assigned + 1), (i % 6 + 1) / 3 % THREADS);
}

int main(void)
{
    for (int i = 0; i < 8 && MYTHREAD == 0; i++)
        sizes_of_the_c_compiler(i);
    upc_barrier;
    for (int i = 0; i < 8 * THREADS; i++) {
        shared [4] unsigned *p = (shared [4] unsigned *)&a[i];
        CHECK_EQ(upc_phaseof(p), i % 4);
        CHECK((shared [4] int *)(p + 1) == &a[i] + 1);
    }
    return check_failures;
}
