// Accesses to what lies with the thread, in every kind of loop whose affinity may tell so: each element gets its value, once, by its
// owner, and the count ends as in C.
#include "check.h"

enum { each = 24 };
shared int cyclic[each * THREADS], other[each * THREADS];
shared double real[each * THREADS];
shared [4] int fours[each * THREADS], fours_too[each * THREADS];
shared [3] int threes[each * THREADS];
shared [*] long spread[each * THREADS], spread_too[each * THREADS];
shared [] int alone[each];
shared int visits[each * THREADS];

static void clear(void)
{
    upc_barrier;
    for (int i = MYTHREAD; i < each * THREADS; i += THREADS) {
        visits[i] = 0;
        cyclic[i] = other[i] = fours[i] = fours_too[i] = threes[i] = -1;
        real[i] = spread[i] = spread_too[i] = -1;
    }
    upc_barrier;
}

// Which iterations were made: begin, begin + step ... below end.
static int wanted(int i, int begin, int end, int step)
{
    return i >= begin && i < end && (i - begin) % step == 0;
}

#define VISITED(begin, end, step) \
    upc_barrier; \
    for (int at = 0; at < each * THREADS; at++) \
        CHECK_EQ(visits[at], wanted(at, begin, end, step) ? 1 : 0)

static void of_declared_arrays(void)
{
    int i, n = each * THREADS;
    clear();
    upc_forall (i = 0; i < n; i++; &cyclic[i]) {
        cyclic[i] = i;
        other[i] = cyclic[i] + 1;
        real[i] += 1.5 * cyclic[i];
        visits[i]++;
        CHECK_EQ(upc_threadof(&cyclic[i]), MYTHREAD);
    }
    CHECK_EQ(i, n);
    VISITED(0, n, 1);
    for (i = 0; i < n; i++) CHECK(cyclic[i] == i && other[i] == i + 1 && real[i] == 1.5 * i - 1);
    clear();
    upc_forall (i = 1; i <= n - 2; ++i; fours + i) {
        fours[i] = fours_too[i]-- + i;
        threes[i] = i;
        ++visits[i];
    }
    CHECK_EQ(i, n - 1);
    VISITED(1, n - 1, 1);
    for (i = 1; i < n - 1; i++) CHECK(fours[i] == i - 1 && fours_too[i] == -2 && threes[i] == i);
    CHECK(fours[0] == -1 && fours[n - 1] == -1);
    clear();
    upc_forall (long k = 0; k < n; k += 1; &spread[k]) {
        spread[k] = k;
        if (k % 3 == 0) continue;
        spread_too[k] = 2 * spread[k];
        visits[k] += 1;
    }
    upc_barrier;
    for (i = 0; i < n; i++) CHECK(spread[i] == i && spread_too[i] == (i % 3 ? 2 * i : -1) && visits[i] == (i % 3 != 0));
    upc_forall (i = 0; i < each; i++; &alone[i]) {
        CHECK_EQ(MYTHREAD, 0);
        alone[i] = i * i;
    }
    CHECK_EQ(i, each);
    upc_barrier;
    for (i = 0; i < each; i++) CHECK_EQ(alone[i], i * i);
}

static void by_steps(void)
{
    int i, n = each * THREADS;
#define BY_STEP(array, begin, end, step) \
    clear(); \
    upc_forall (i = begin; i < end; i += step; &array[i]) { \
        array[i] = i; \
        other[i] = array[i] + visits[i]; \
        visits[i]++; \
    } \
    CHECK_EQ(i, (end) <= (begin) ? (begin) : (begin) + ((end) - (begin) + step - 1) / step * step); \
    VISITED(begin, end, step); \
    for (i = 0; i < n; i++) CHECK_EQ(array[i], wanted(i, begin, end, step) ? i : -1)
    BY_STEP(cyclic, 0, n, 2);
    BY_STEP(cyclic, 1, n, 3);
    BY_STEP(cyclic, 5, n - 1, 6);
    BY_STEP(cyclic, 7, n, 100);
    BY_STEP(cyclic, 4, 4, 2);
    BY_STEP(cyclic, 9, 3, 1);
    BY_STEP(fours, 0, n, 2);
    BY_STEP(fours, 1, n - 3, 3);
    BY_STEP(fours, 2, n, 7);
    BY_STEP(threes, 3, n, 4);
    BY_STEP(spread, 1, n, 5);
    clear();
    upc_forall (i = 1; i < n; i += 4; i) {
        cyclic[i] = i;
        visits[i]++;
    }
    VISITED(1, n, 4);
    for (i = 0; i < n; i++) CHECK_EQ(cyclic[i], wanted(i, 1, n, 4) ? i : -1);
}

// Wherever the pointers point: only if they begin alike are all accesses local.
static void through_pointers(shared int *p, shared int *q, shared [4] int *f, shared [4] int *g, int n)
{
    int i;
    clear();
    upc_forall (i = 0; i < n; i++; &p[i]) {
        CHECK_EQ(upc_threadof(p + i), MYTHREAD);
        q[i] = 10 + i;
        p[i] = i;
    }
    upc_barrier;
    for (i = 0; i < n; i++) CHECK_EQ(q[i], p + 0 == q ? i : 10 + i);
    clear();
    upc_forall (i = 0; i < n; i++; i) q[i] = 20 + i;
    upc_barrier;
    for (i = 0; i < n; i++) CHECK_EQ(q[i], 20 + i);
    clear();
    upc_forall (i = 0; i < n; i++; &f[i]) {
        CHECK_EQ(upc_threadof(f + i), MYTHREAD);
        g[i] = f[i] + i;
    }
    upc_barrier;
    for (i = 0; i < n; i++) CHECK_EQ(g[i], i - 1);
    upc_barrier;
}

static void of_other_counts(void)
{
    unsigned u;
    int i, n = each * THREADS, negative = -1;
    shared int *middle = &cyclic[THREADS + 1];
    shared [4] int *in_a_block = &fours[9];
    clear();
    upc_forall (u = 2; u < (unsigned) n; u++; &cyclic[u]) cyclic[u] = (int) u;
    CHECK_EQ(u, n);
    upc_barrier;
    for (i = 2; i < n; i++) CHECK_EQ(cyclic[i], i);
    upc_forall (i = 3; i < (size_t) n; i++; &fours[i]) fours[i] = i;
    CHECK_EQ(i, n);
    upc_forall (i = 0; (unsigned) i < 0; i++; &fours[i]) fours[i] = 0;
    CHECK_EQ(i, 0);
    upc_forall (i = -1; i < 5u; i++; &fours[i]) CHECK(0); // as unsigned numbers -1 is the larger
    CHECK_EQ(i, negative);
    upc_barrier;
    for (i = 3; i < n; i++) CHECK_EQ(fours[i], i);
    clear();
    upc_forall (i = -3; i < 4; i++; &middle[i]) middle[i] = i;
    upc_forall (i = -9; i < 6; i++; &in_a_block[i]) in_a_block[i] = i;
    upc_barrier;
    for (i = -THREADS - 1 < -3 ? -3 : -THREADS - 1; i < 4; i++)
        if (THREADS > 1) CHECK_EQ(middle[i], i);
    for (i = -9; i < 6; i++) CHECK_EQ(in_a_block[i], i);
    upc_barrier;
}

// What changes on the way is not taken as it was before.
static int global_end;
static shared int *global_array;
static void change(void) { global_end -= THREADS, global_array = other; }
static int last_of(shared int *p, int n)
{
    int i;
    upc_forall (i = 0; i < n; i++; i) {
        p[i] = i;
        if (i >= THREADS) break;
    }
    return i;
}

static void what_changes(void)
{
    int i, n = each * THREADS;
    shared int *p = cyclic;
    clear();
    global_end = n;
    global_array = cyclic;
    upc_forall (i = 0; i < global_end; i++; &global_array[i]) {
        global_array[i] = i;
        if (i < THREADS) change();
    }
    upc_barrier;
    for (i = 0; i < THREADS; i++) CHECK_EQ(cyclic[i], i);
    for (i = THREADS; i < n - THREADS; i++) CHECK(cyclic[i] == -1 && other[i] == i);
    for (i = n - THREADS; i < n; i++) CHECK(cyclic[i] == -1 && other[i] == -1);
    clear();
    upc_forall (i = 0; i < n; i++; i) {
        p[i] = i;
        if (i >= n / 2) p = other;
    }
    upc_barrier;
    CHECK(cyclic[n / 2] == n / 2 && other[n / 2] == -1 && other[n - 1] == n - 1);
    clear();
    upc_forall (i = 0; i < n; i++; i) {
        int cyclic[1] = {5}, kept = i;
        other[i] = cyclic[0] + kept;
        visits[i]++;
    }
    VISITED(0, n, 1);
    for (i = 0; i < n; i++) CHECK_EQ(other[i], 5 + i);
    CHECK_EQ(last_of(cyclic, n), THREADS + MYTHREAD);
    upc_barrier;
}

// Within another upc_forall all iterations are of one thread, and few accesses local.
static void within_another(void)
{
    int n = each * THREADS;
    clear();
    upc_forall (int k = 0; k < 1; k++; k)
        upc_forall (int i = 0; i < n; i++; &cyclic[i]) {
            cyclic[i] = i;
            CHECK_EQ(MYTHREAD, 0);
        }
    upc_barrier;
    for (int i = 0; i < n; i++) CHECK_EQ(cyclic[i], i);
    upc_barrier;
}

int main(void)
{
    int n = each * (THREADS - 1);
    of_declared_arrays();
    by_steps();
    through_pointers(cyclic, other, fours, fours_too, n);
    through_pointers(cyclic, other + 1, fours, fours_too + 1, n);
    through_pointers(cyclic + 1, other + 1, fours + 5, fours_too + 4 * THREADS + 5, n);
    through_pointers(cyclic + 1, other, fours + 2, fours_too + 6, n);
    of_other_counts();
    what_changes();
    within_another();
    return check_failures;
}
