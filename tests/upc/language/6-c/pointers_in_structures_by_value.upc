// Structures that hold pointers to shared are passed, returned, assigned and compared member by member.
#include "check.h"

struct range { shared [3] int *begin, *end; };
typedef struct { struct range parts[2]; int (*sum)(struct range); } job;
shared [3] int a[6 * THREADS];
shared struct range published[THREADS];

static struct range between(int from, int to)
{
    struct range r = {&a[from], .end = a + to};
    return r;
}

static int sum(struct range r)
{
    int total = 0;
    while (r.begin < r.end)
        total += *r.begin++;
    return total;
}

int main(void)
{
    int n = 6 * THREADS;
    upc_forall (int i = 0; i < n; i++; &a[i])
        a[i] = i;
    published[MYTHREAD] = between(MYTHREAD, n);
    upc_barrier;
    job j = {{between(0, 4), between(2, n)}, sum};
    CHECK_EQ(j.sum(j.parts[0]), 6);
    CHECK_EQ((*j.sum)(j.parts[1]), n * (n - 1) / 2 - 1);
    struct range other = published[(MYTHREAD + 1) % THREADS];
    CHECK_EQ(other.end - other.begin, n - (MYTHREAD + 1) % THREADS);
    CHECK(published[0].begin == a && published[0].end == other.end);
    CHECK_EQ(*published[THREADS - 1].begin, THREADS - 1);
    CHECK_EQ(between(3, 5).begin[1], 4);
    return check_failures;
}
