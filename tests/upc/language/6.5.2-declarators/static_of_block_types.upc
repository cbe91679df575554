// A static shared object in a function may be of a type that is defined there: its memory and its initial value follow from that type, not
// from one of the same name elsewhere (C11 6.2.1).
#include <stddef.h>
#include <string.h>
#include "check.h"

struct s {
    char small;
};
typedef char t;
enum { SIZE = 1, FIRST = 7 };
typedef int early;

static int structures(int to)
{
    struct s {
        long long a[4];
        struct s *next;
        shared struct s *there;
    };
    static shared struct s one;
    static shared struct s many[THREADS];
    static shared struct s before = {{1, 2, 3, 4}};
    static shared struct { double d[2]; int i; } plain = {{1.5, 2.5}, 3};
    static struct s *shared pointer;
    one.a[3] = to;
    many[MYTHREAD].a[3] = to;
    upc_barrier;
    CHECK(one.a[3] == many[THREADS - 1].a[3] && before.a[3] == 4 && before.a[0] == 1 && !pointer);
    CHECK(plain.d[1] == 2.5 && plain.i == 3);
    upc_barrier;
    return sizeof one;
}

static int typedefs(void)
{
    typedef struct { int x, y; } t;
    typedef t pair[2];
    typedef float vector __attribute__((vector_size(16)));
    typedef vector four[2];
    static shared pair p[2 * THREADS] = {{{1, 2}, {3, 4}}, {{5, 6}}};
    static shared t single = (t){8, 9};
    static shared [] four f;
    static shared [2] vector v[2 * THREADS];
    CHECK(p[0][1].y == 4 && p[1][0].x == 5 && p[1][1].x == 0 && single.y == 9);
    v[2 * MYTHREAD + 1] = (vector){1, 2, 3, MYTHREAD};
    f[1] = (vector){0};
    upc_barrier;
    vector last = v[2 * THREADS - 1];
    CHECK(last[3] == THREADS - 1);
    upc_barrier;
    return sizeof p[0] + sizeof v[0];
}

struct __attribute__((packed)) packed {
    char c[16];
};

static int constants(void)
{
    enum { SIZE = sizeof(struct { int a, b, c; }), FIRST = SIZE + 2, UNKNOWN = sizeof(struct packed) };
    enum colour { RED, GREEN = FIRST, BLUE };
    struct inner {
        enum colour c : 8;
        char text[SIZE];
        struct inner_two { int i[UNKNOWN]; } two;
    };
    static shared [] int a[SIZE] = {[FIRST - 10] = BLUE, [SIZE - 1] = RED + UNKNOWN};
    static shared struct inner in = {GREEN, "abc", {{[UNKNOWN - 1] = 5}}};
    static shared enum colour c = BLUE;
    enum __attribute__((packed)) narrow { LOW, HIGH = 200 };
    static shared [] enum narrow narrow[3] = {LOW, HIGH};
    static shared struct inner_two two;
    {
        enum { SIZE = 20 };
        static shared int larger[SIZE * THREADS];
        static shared struct inner same;
        static shared [] size_t sizes[4] = {sizeof(struct inner), offsetof(struct inner, text[FIRST - 13]),
                                         sizeof larger, sizeof same.text};
        larger[SIZE * THREADS - 1] = 1;
        same.text[SIZE - 9] = 'q';
        CHECK(sizes[0] == sizeof(struct inner) && sizes[1] == 2 && sizes[2] == 20 * THREADS * sizeof(int));
        CHECK_EQ(sizes[3], 12);
    }
    CHECK(a[4] == 15 && a[11] == 16 && in.c == GREEN && in.text[1] == 'b' && in.two.i[15] == 5 && c == BLUE);
    CHECK(sizeof narrow == 3 && narrow[1] == HIGH && narrow[2] == LOW);
    two.i[UNKNOWN - 1] = 3;
    return upc_elemsizeof(two);
}

static int shadowed(void)
{
    typedef double early;
    enum { N = 3 };
    struct holder {
        early e[N];
    };
    typedef shared int lines[N * THREADS];
    {
        typedef char early;
        enum { N = 9 };
        static shared struct holder h = {{0, 1, 2.5}};
        static shared lines l;
        static shared early e = N;
        CHECK(h.e[2] == 2.5 && e == 9);
        CHECK_EQ(sizeof l, 3 * THREADS * sizeof(int));
        return sizeof h + sizeof e;
    }
}

static int by_declarations(int (*unused)[3])
{
    union u {
        char c[8];
        _Alignas(64) int i;
    };
    struct list;
    struct other {
        struct list *l;
        union u u;
        struct { int in, side; };
    };
    struct list {
        struct other *o;
    };
    static shared struct list l;
    static shared struct other o = {NULL, {"x"}, {4, 5}};
    static shared union u a, b;
    static shared [] char text[] = "text", letter[] = {sizeof *unused};
    static const char *shared name = __func__;
    CHECK_EQ(strcmp(name, "by_declarations"), 0);
    CHECK(o.u.c[0] == 'x' && o.side == 5 && l.o == NULL && letter[0] == 12 && text[3] == 't');
    CHECK(upc_addrfield(&b) % 64 == 0 && upc_addrfield(&o.u) % 64 == 0);
    return &a != &b;
}

shared long guards[THREADS];

int main(void)
{
    CHECK_EQ(structures(5), 4 * sizeof(long long) + sizeof(void *) + sizeof(shared void *));
    CHECK_EQ(typedefs(), 32);
    CHECK_EQ(constants(), 16 * sizeof(int));
    CHECK_EQ(shadowed(), 3 * sizeof(double) + 1);
    CHECK_EQ(by_declarations(NULL), 1);
    CHECK_EQ(guards[MYTHREAD], 0);
    return check_failures;
}
