// Structures that hold pointers to shared are passed, returned, assigned, compared member by member, and stored through as literals.
#include "check.h"

struct range { shared [3] int *begin, *end; };
typedef struct { struct range parts[2]; int (*sum)(struct range); } job;
shared [3] int a[6 * THREADS];
shared struct range published[THREADS];
shared struct { int low : 4, high : 12; } fields[THREADS];

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
    upc_barrier;
    if (MYTHREAD == 0) {
        int one = 1, n = 0;
        shared [3] int *rows[2][2] = {{a, a + 1}, {a + 2, a + 3}};
        *((shared [3] int *[]){a, a + 4})[one] = 70;
        *(struct range){a + 5, a}.begin += 100;
        (*(typeof(&fields[0])[]){&fields[0], &fields[THREADS - 1]}[one]).high = 9;
        *(rows[n++, 1])[one] += 40;
        *rows[n++, 0][1] += 5;
        CHECK_EQ(n, 2);
        CHECK_EQ(a[4], 70);
        CHECK_EQ(a[5], 105);
        CHECK_EQ(a[3], 43);
        CHECK_EQ(a[1], 6);
        CHECK_EQ(fields[THREADS - 1].high, 9);
    }
    return check_failures;
}
