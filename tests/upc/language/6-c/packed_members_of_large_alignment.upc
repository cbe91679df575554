// Members of packed structures begin anywhere, whatever their type's alignment.
#include "check.h"

typedef float vector __attribute__((vector_size(16)));
struct with_vector { vector v; int k; };
struct with_integer { __int128 q; int k; };
struct __attribute__((packed)) record {
    char c;
    struct with_vector structure;
    long double number;
    struct with_integer other;
    vector v;
    __int128 q;
};
shared struct record a[THREADS];

__attribute__((optimize("O2"))) static void use(int t)
{
    struct with_vector structure = {{1, 2, 3, 4}, 5};
    struct with_integer other = {(__int128)1 << 100, 6};
    vector v = {7, 8, 9, 10};
    a[t].structure = structure;
    a[t].other = other;
    a[t].v = v;
    a[t].q = (__int128)3 << 90;
    a[t].number = 1.5L;
    structure = a[t].structure;
    structure.v += a[t].v;
    other = a[t].other;
    CHECK(structure.v[0] == 8 && structure.v[3] == 14 && structure.k == 5);
    CHECK(other.q == (__int128)1 << 100 && other.k == 6);
    CHECK(a[t].q == (__int128)3 << 90 && a[t].number == 1.5L);
    const struct record whole = a[t];
    CHECK(whole.structure.k == 5 && whole.q == (__int128)3 << 90);
}

int main(void)
{
    use(MYTHREAD);
    upc_barrier;
    use((MYTHREAD + 1) % THREADS);
    return check_failures;
}
