"""What the constructs of UPC become in C, without a compiler or a run; and that C which is not UPC stays as it was."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("pycparser", minversion="3.0")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from nearcache.upcc import lower, parser, printer  # noqa: E402
from nearcache.upcc.diagnostics import UpcErrors  # noqa: E402

DECLARATIONS = """
typedef struct { int id; double w[3]; unsigned bits : 3; } item;
struct node { int v; shared struct node *next; };
shared int x, *gp; shared [4] double a[40*THREADS]; shared int m[THREADS][10]; shared [2] item items[8*THREADS];
strict shared int flag; shared [] int *ind; shared [4] double *q; shared int *p, *p2; shared struct node *list; shared void *any;
shared [3] int *p3; item one; int i, n; unsigned u; double d; int *local; int f(shared int *, int); int count(void);
volatile shared int live; relaxed volatile shared int calm;
"""


def lowered(text, **options):
    tree = parser.parse(text, "t.upc")
    return printer.print_file(lower.lower(tree, name="t.upc", **options))


def statement(text, **options):
    """The C of one statement."""
    printed = lowered(f"{DECLARATIONS}\nvoid t(void) {{\n{text}\n}}\n", **options)
    body = printed[
        printed.index("t(void) {") + 9 : printed.index("static void ncupc_place_statics")
    ]
    body = re.sub(r"#line[^\n]*", "", body).strip()
    assert body.endswith("}")
    return " ".join(body[:-1].split())


CASES = {
    "i = x;": "i = NCUPC_GET(int, x);",
    "x = 3;": "NCUPC_PUT(int, x, 3);",
    "x += 4;": "NCUPC_PUT(int, x, NCUPC_GET(int, x) + 4);",
    "x += count();": "({ __auto_type ncupc_t1 = count(); NCUPC_PUT(int, x, NCUPC_GET(int, x) + ncupc_t1); });",
    "x += *local + x;": "NCUPC_PUT(int, x, NCUPC_GET(int, x) + (*local + NCUPC_GET(int, x)));",
    "p += count();": "({ __auto_type ncupc_t1 = count(); p = ncupc_add(p, ncupc_t1, sizeof(int), 1); });",
    "gp -= n++;": "({ __auto_type ncupc_t1 = -(ptrdiff_t) n++; gp = ncupc_add(gp, ncupc_t1, sizeof(int), 1); });",
    "i = live;": "i = NCUPC_GET_STRICT(int, live);",
    "live = 2;": "NCUPC_PUT_STRICT(int, live, 2);",
    "calm = 2;": "NCUPC_PUT_STRICT(int, calm, 2);",
    "p = 0b0;": "p = NCUPC_NULL;",
    "i = p == 0B00u;": "i = ncupc_is_null(p);",
    "upc_forall (i = 0; i < (int) count(); i++; i) x = i;": "{ NCUPC_FORALL(ncupc_forall1); for (i = 0; i < (int) count(); ++i) { if (NCUPC_MINE_INT(ncupc_forall1, i)) { NCUPC_PUT(int, x, i); } } }",
    "x++;": "NCUPC_PUT(int, x, NCUPC_GET(int, x) + 1);",
    "flag = 1;": "NCUPC_PUT_STRICT(int, flag, 1);",
    "i = flag;": "i = NCUPC_GET_STRICT(int, flag);",
    "d = a[i];": "d = NCUPC_GET(double, ncupc_element(a, i, sizeof(double), 4));",
    "m[i][2] = 7;": "NCUPC_PUT(int, ncupc_element(m, (ptrdiff_t) i * 10 + 2, sizeof(int), 1), 7);",
    "ind[3] = 1;": "NCUPC_PUT(int, ncupc_add(ind, 3, sizeof(int), 0), 1);",
    "items[3].id = 4;": "NCUPC_PUT(int, ncupc_field(ncupc_element(items, 3, sizeof(item), 2), __builtin_offsetof(item, id)), 4);",
    "items[0].w[1] = 2;": "NCUPC_PUT(double, ncupc_add(ncupc_field(items, __builtin_offsetof(item, w)), 1, sizeof(double), 0), 2);",
    "items[0].bits = 5;": "NCUPC_PUT_BITS(item, bits, items, 5);",
    "one = items[1];": "one = NCUPC_GET_RECORD(item, ncupc_element(items, 1, sizeof(item), 2));",
    "list = list->next;": "list = NCUPC_GET(ncupc_ptr, ncupc_field(list, __builtin_offsetof(struct node, next)));",
    "p++;": "p = ncupc_add(p, 1, sizeof(int), 1);",
    "p -= u;": "p = ncupc_add(p, -(ptrdiff_t) u, sizeof(int), 1);",
    "i = p - p2;": "i = ncupc_diff(p, p2, sizeof(int), 1);",
    "i = p < p2;": "i = ncupc_compare(p, p2, sizeof(int), 1) < 0;",
    "i = p == p2;": "i = ncupc_equal(p, p2);",
    "i = p != 0;": "i = !ncupc_is_null(p);",
    "if (!p) i = 1;": "if (ncupc_is_null(p)) i = 1;",
    "p = (void *) 0;": "p = NCUPC_NULL;",
    "p = i ? p2 : 0;": "p = i ? p2 : NCUPC_NULL;",
    "p = any;": "p = ncupc_unphased(any);",
    "any = q;": "any = q;",
    "q = any;": "q = any;",
    "p3 = (shared [3] int *) q;": "p3 = ncupc_unphased(q);",
    "i = ((shared [] char *) m[i])[n];": "i = NCUPC_GET(char, ncupc_add(ncupc_element(m, (ptrdiff_t) i * 10, sizeof(int), 1), n, sizeof(char), 0));",
    "u = ((shared unsigned *) m[i])[n];": "u = NCUPC_GET(unsigned int, ncupc_element(m, (ptrdiff_t) i * 10 + n, sizeof(unsigned int), 1));",
    "i = p == p3;": "i = ncupc_equal(p, p3);",
    "local = (int *) &m[i][0];": "local = (int *) ncupc_local(ncupc_element(m, (ptrdiff_t) i * 10, sizeof(int), 1));",
    "i = f(&x, x);": "i = f(x, NCUPC_GET(int, x));",
    "upc_barrier;": "NCUPC_BARRIER();",
    "upc_notify n; upc_wait n;": "NCUPC_NOTIFY_EXPR(n); NCUPC_WAIT_EXPR(n);",
    "upc_fence;": "NCUPC_FENCE();",
    "i = upc_blocksizeof(a);": "i = (size_t) 4;",
    "i = upc_elemsizeof(a);": "i = sizeof(double);",
    '_Static_assert(upc_blocksizeof(a) == 4, "in a function");': '_Static_assert((size_t) 4 == 4, "in a function");',
    "i = bupc_assert_type(x, shared int);": "i = 1;",
    "i = bupc_assert_type(count(), int) + bupc_assert_type(n++, shared int);": "i = 1 + 0;",
    "i = sizeof(m);": "i = (size_t) THREADS * 10 * sizeof(int);",
    "i = MYTHREAD + THREADS;": "i = MYTHREAD + THREADS;",
    "upc_forall (i = 0; i < n; i++; i) x = i;": "{ NCUPC_FORALL(ncupc_forall1); for (i = 0; i < n; ++i) { if (NCUPC_MINE_INT(ncupc_forall1, i)) { NCUPC_PUT(int, x, i); } "
    "else NCUPC_SKIP_INT(i, (ptrdiff_t) n - (ptrdiff_t) i); } }",
    "upc_forall (i = n; i > 0; i--; i) x = i;": "{ NCUPC_FORALL(ncupc_forall1); for (i = n; i > 0; --i) { if (NCUPC_MINE_INT(ncupc_forall1, i)) { NCUPC_PUT(int, x, i); } } }",
    "upc_forall (i = 0; i < n; i++; &a[i]) d = 1;": "{ NCUPC_FORALL(ncupc_forall1); for (i = 0; i < n; ++i) { if (NCUPC_MINE_PTR(ncupc_forall1, ncupc_element(a, i, sizeof(double), 4))) "
    "{ d = 1; } else NCUPC_SKIP_PTR(i, (ptrdiff_t) n - (ptrdiff_t) i, ncupc_element(a, i, sizeof(double), 4), 4); } }",
    "upc_forall (i = 0; i < x; i++; &a[i]) d = 1;": "{ NCUPC_FORALL(ncupc_forall1); for (i = 0; i < NCUPC_GET(int, x); ++i) { if (NCUPC_MINE_PTR(ncupc_forall1, ncupc_element(a, i, "
    "sizeof(double), 4))) { d = 1; } } }",
    "upc_forall (i = 0; i < n; i++; continue) d = 1;": "for (i = 0; i < n; ++i) d = 1;",
    "{\n#pragma upc strict\nx = 1; } x = 2;": "{ NCUPC_PUT_STRICT(int, x, 1); } NCUPC_PUT(int, x, 2);",
    "a[count()] += 2;": "({ ncupc_ptr ncupc_t1 = ncupc_element(a, count(), sizeof(double), 4); NCUPC_PUT(double, ncupc_t1, "
    "NCUPC_GET(double, ncupc_t1) + 2); });",
    "i = x++;": "i = ({ int ncupc_t1 = NCUPC_GET(int, x); NCUPC_PUT(int, x, ncupc_t1 + 1); ncupc_t1; });",
    "i = *p++;": "i = NCUPC_GET(int, ({ ncupc_ptr ncupc_t1 = p; p = ncupc_add(ncupc_t1, 1, sizeof(int), 1); ncupc_t1; }));",
}


@pytest.mark.parametrize("source", CASES)
def test_a_statement_becomes_readable_c(source):
    assert statement(source) == CASES[source]


# Loops over what lies with the thread: the arrays whose elements are accessed as C, and the test before the loop by runs.
ARRAYS = (
    "shared int c[9*THREADS], c2[9*THREADS], *r; shared [4] double b[40*THREADS], b2[40*THREADS]; shared [3] int t3[9*THREADS]; "
    "shared [*] int s[9*THREADS], s2[9*THREADS]; shared [] int w[9]; shared int m2[THREADS][2]; strict shared int z[9*THREADS]; "
    "shared struct { int v; } k[9*THREADS]; shared int *shared sp; int global; int *shared private[9*THREADS]; "
    "shared struct { int *where; shared [] int *there; } h[9*THREADS];"
)
MINE = "ncupc_forall1"
LOCAL = {
    "upc_forall (i = 0; i < n; i++; &c[i]) c[i] = c2[i] + z[i];": ({"c", "c2"}, MINE),
    "upc_forall (i = 0; i < n; i++; c + i) c2[i]++;": ({"c2"}, MINE),
    "upc_forall (i = 0; i <= 9 * THREADS - 1; i++; i) c[i] += w[i] + t3[i];": ({"c"}, MINE),
    "upc_forall (int j = 0; j < n; j += 3; &b[j]) b[j] *= b2[j] + a[j];": ({"b", "b2", "a"}, MINE),
    "upc_forall (i = 0; i < n; i++; &s[i]) s[i] = s2[i];": ({"s", "s2"}, MINE),
    "upc_forall (i = 0; i < n; i++; &w[i]) ind[i] = w[i];": (
        {"w", "ind"},
        f"{MINE} && NCUPC_BEGINS_AT_ZERO(ind)",
    ),
    "upc_forall (i = 0; i < n; i++; &p[i]) { p[i] = c[i] + p2[i]; d += p[i]; }": (
        {"p", "c", "p2"},
        f"{MINE} && NCUPC_BEGINS_AT_ZERO(p) && NCUPC_BEGINS_ALIKE(p2, p)",
    ),
    "upc_forall (u = 0; u < n; u++; &c[u]) c[u] = 1;": (
        {"c"},
        f"{MINE} && (u < n) == ((ptrdiff_t) u < (ptrdiff_t) n)",
    ),
    "upc_forall (i = 0; i < global; i++; &c[i]) c[i] = 1;": ({"c"}, MINE),
    "upc_forall (i = 0; i < global; i++; &c[i]) { c[i] = *(b + 1) = h[1].there[2] = 1; h[1].where = local; }": (
        {"c"},
        MINE,
    ),
    "upc_forall (i = 0; i < n; i++; &c[i]) { for (;;) break; c[i] = f(&c[i], c[i]); }": (
        {"c"},
        MINE,
    ),
}
UNKNOWN = [
    "upc_forall (i = 0; i < n; i++; &c[i]) c[i + 1] = b[i];",  # elsewhere
    "upc_forall (i = 0; i < n; i++; &c[i]) b[i] = t3[i] + s[i] + z[i] + k[i].v;",  # of other blocks, strict, structures
    "upc_forall (i = 0; i < n; i++; &c[i + 1]) c[i] = 1;",
    "upc_forall (i = 0; i < n; i++; &m2[i][0]) c[i] = 1;",
    "upc_forall (i = n; i > 0; i--; &c[i]) c[i] = 1;",
    "upc_forall (i = 0; i < n; i += 0; &c[i]) c[i] = 1;",
    "upc_forall (i = 0; i < n; i += u; &c[i]) c[i] = 1;",
    "upc_forall (d = 0; d < n; d++; i) c[i] = 1;",
    "upc_forall (i = 0; i < n; i++; &c[i]) { c[i] = 1; i++; }",  # the count changes
    "upc_forall (i = 0; i < n; i++; &c[i]) { c[i] = 1; n--; }",  # the bound
    "upc_forall (i = 0; i < n; i++; &sp[i]) p[i] = 1;",  # the pointer is shared
    "upc_forall (i = 0; i < n; i++; &p[i]) { p[i] = 1; p++; }",
    "upc_forall (i = 0; i < n; i++; &r[i]) { r[i] = count(); }",  # who knows what a function changes
    "upc_forall (i = 0; i < global; i++; &c[i]) { c[i] = 1; *local = 2; }",  # or a pointer
    "upc_forall (i = 0; i < global; i++; &c[i]) { c[i] = 1; *h[1].where = 2; }",
    "upc_forall (i = 0; i < global; i++; &c[i]) { c[i] = 1; private[1][0] = 2; }",
    "upc_forall (i = 1; i <= n / i; i++; &c[i]) c[i] = 1;",
    "upc_forall (i = 0; i < n - i; i++; i) c[i] = 1;",
    "upc_forall (i = 0; i < n; i++; &c[i]) { if (c[i]) break; }",
    "upc_forall (i = 0; i < n; i++; &c[i]) { if (c[i]) return; }",
    "upc_forall (i = 0; i < n; i++; &c[i]) { again: if (c[i]--) goto again; }",
    "upc_forall (i = 0; i < n; i++; &c[i]) { static int all; all += c[i]; }",
    "upc_forall (i = 0; i < n; i++; &c[i]) { c[i] = 1; upc_fence; }",
    "{ local = &i; upc_forall (i = 0; i < n; i++; &c[i]) c[i] = 1; }",
    '{ upc_forall (i = 0; i < n; i++; &c[i]) c[i] = 1; asm("" : "+r"(i)); }',
    "upc_forall (i = 0; i < n; i++; &c[i]) { int i = 2; c[i] = 1; }",
    "upc_forall (i = 0; i < n; i++; &c[i]) { int c[2], i = 0; c[i] = 1; }",
    "upc_forall (i = 0; i < n; i++; &c[i]) d += upc_threadof((shared void *)&c[i]);",
]
# as variables of a function, which no other changes
LOCALS = "int i, n = 3, *local; unsigned u; double d; shared int *p = c, *p2 = c; shared [] int *ind = w; "


def in_a_function(source):
    """The C of a loop."""
    made = lowered(
        f"{DECLARATIONS}\n{ARRAYS}\nunsigned long upc_threadof(shared void *);\nvoid t(void) {{\n{LOCALS}\n{source}\n}}\n"
    )
    body = made[
        made.index("ncupc_ptr ind = w;") + 18 : made.index("static void ncupc_place_statics")
    ]
    return " ".join(re.sub(r"#line[^\n]*", "", body).strip()[:-1].split())


@pytest.mark.parametrize("source", LOCAL)
def test_an_access_that_is_known_to_be_local_is_one_of_c(source):
    arrays, test = LOCAL[source]
    made = in_a_function(source)
    found = re.findall(r"NCUPC_OWN\(\w+, ncupc_(?:element|add)\((\w+), ncupc_i1,", made)
    assert set(found) == arrays and len(found) == len(arrays)
    assert f"if ({test}) {{ const ptrdiff_t ncupc_begin1" in made


@pytest.mark.parametrize("source", UNKNOWN)
def test_an_access_that_may_be_elsewhere_is_none_of_c(source):
    assert "NCUPC_OWN" not in in_a_function(source)


def test_a_loop_by_runs_is_readable():
    made = in_a_function("upc_forall (i = 0; i < n; i++; &c[i]) c[i] += 2 * c2[i];")
    assert made == (
        "{ NCUPC_FORALL(ncupc_forall1); i = 0; if (ncupc_forall1) { const ptrdiff_t ncupc_begin1 = i; "
        "const ptrdiff_t ncupc_end1 = (ptrdiff_t) n; const ptrdiff_t ncupc_stride1 = ncupc_stride(1, 1); "
        "ptrdiff_t ncupc_i1 = ncupc_begin1; ptrdiff_t ncupc_n1 = 0; "
        "while ((ncupc_n1 = ncupc_run(&ncupc_i1, ncupc_end1, c, 1, 1, ncupc_stride1)) > 0) { "
        "__auto_type ncupc_t2 = NCUPC_OWN(int, ncupc_element(c2, ncupc_i1, sizeof(int), 1)); "
        "__auto_type ncupc_t3 = NCUPC_OWN(int, ncupc_element(c, ncupc_i1, sizeof(int), 1)); "
        "for (ptrdiff_t ncupc_k1 = 0; ncupc_k1 < ncupc_n1; ++ncupc_k1) { i = ncupc_i1 + ncupc_k1 * ncupc_stride1; "
        "ncupc_t3[ncupc_k1] += 2 * ncupc_t2[ncupc_k1]; } ncupc_i1 += ncupc_n1 * ncupc_stride1; } "
        "i = ncupc_after(ncupc_begin1, ncupc_end1, 1); } else for (; i < n; ++i) { "
        "if (NCUPC_MINE_PTR(ncupc_forall1, ncupc_element(c, i, sizeof(int), 1))) { "
        "({ ncupc_ptr ncupc_t1 = ncupc_element(c, i, sizeof(int), 1); "
        "NCUPC_PUT(int, ncupc_t1, NCUPC_GET(int, ncupc_t1) + 2 * NCUPC_GET(int, ncupc_element(c2, i, sizeof(int), 1))); }); } "
        "else NCUPC_SKIP_PTR(i, (ptrdiff_t) n - (ptrdiff_t) i, ncupc_element(c, i, sizeof(int), 1), 1); } }"
    )


def test_a_loop_that_accesses_nothing_of_its_own_goes_by_runs_too():
    made = in_a_function("upc_forall (i = 0; i < n; i += 2; i) d += i;")
    assert made == (
        "{ NCUPC_FORALL(ncupc_forall1); i = 0; if (ncupc_forall1) { const ptrdiff_t ncupc_begin1 = i; "
        "const ptrdiff_t ncupc_end1 = (ptrdiff_t) n; const ptrdiff_t ncupc_stride1 = ncupc_stride(1, 2); "
        "ptrdiff_t ncupc_i1 = ncupc_begin1; ptrdiff_t ncupc_n1 = 0; "
        "while ((ncupc_n1 = ncupc_run(&ncupc_i1, ncupc_end1, ncupc_make(0, 0, 0), 1, 2, ncupc_stride1)) > 0) { "
        "for (ptrdiff_t ncupc_k1 = 0; ncupc_k1 < ncupc_n1; ++ncupc_k1) { i = ncupc_i1 + ncupc_k1 * ncupc_stride1; d += i; } "
        "ncupc_i1 += ncupc_n1 * ncupc_stride1; } i = ncupc_after(ncupc_begin1, ncupc_end1, 2); } "
        "else for (; i < n; i += 2) { if (NCUPC_MINE_INT(ncupc_forall1, i)) { d += i; } } }"
    )


PLAIN = [
    "for (i = 0; i < n; ++i) d += local[i] * 2;",
    "switch (i) { case 1: n = 2; break; default: n = 3; }",
    "do { --i; } while (i > 0 && local != (void *) 0);",
    "local[count()] += i ? n : -1;",
    "goto end; end: i = sizeof(one.w) / sizeof(double);",
]


@pytest.mark.parametrize("source", PLAIN)
def test_c_stays_as_it_is(source):
    assert statement(source) == source


def test_shared_data_are_placed_and_filled_at_the_start():
    text = lowered(
        "shared int x = 5;\nshared [2] int a[4] = {1, 2};\nextern shared int e[];\nstatic shared int s;\nshared int *p = &a[1];\n".replace(
            "shared int *p = &a[1]", "shared [2] int *p = &a[1]"
        ),
        threads=2,
    )
    assert (
        "ncupc_ptr x;" in text and "extern ncupc_ptr e;" in text and "static ncupc_ptr s;" in text
    )
    assert 'ncupc_place(&x, "x", sizeof(int), 1, 1, NCUPC_HERE);' in text
    assert 'ncupc_place(&a, "a", sizeof(int), 4, 2, NCUPC_HERE);' in text
    assert "ncupc_place(&e" not in text
    assert "static const int ncupc_initial[4] = {1, 2};" in text
    assert "p = ncupc_element(a, 1, sizeof(int), 2);" in text
    assert 'NCUPC_MODULE("t.upc", ncupc_place_statics, ncupc_initialise_statics);' in text


def test_a_constant_of_static_threads_is_one_of_c():
    source = "const int nprocs = THREADS;\nstatic int *const some[2] = {(int *) THREADS};\nshared int x = THREADS;\n"
    text = lowered(source, threads=4)
    assert "const int nprocs = THREADS;" in text
    assert "static int *const some[2] = {(int *) THREADS};" in text
    assert "static const int ncupc_initial[1] = {THREADS};" in text
    assert "nprocs = THREADS;" in lowered(source).partition("ncupc_initialise_statics")[2]
    assert "const int nprocs" not in lowered(source)


@pytest.mark.parametrize(
    "dimension, threads, block",
    [
        ("10*THREADS", None, "10"),
        ("THREADS*6*2", None, "12"),
        ("10", 4, "3"),
        ("12*THREADS", 3, "12"),
    ],
)
def test_a_star_gives_each_thread_one_block(dimension, threads, block):
    assert f", {block}, NCUPC_HERE)" in lowered(f"shared [*] int a[{dimension}];", threads=threads)


@pytest.mark.parametrize(
    "one, other",
    [
        ("void f(shared [] int *p);", "void f(shared int *p) { }"),
        ("shared [] int *f(void);", "shared [4] int *f(void);"),
        ("extern shared int *p;", "shared [] int *p;"),
        ("int f(shared int *);", "int f(int *);"),
        ("extern shared int *a[2];", "int *a[2];"),
    ],
)
def test_declarations_agree_in_what_is_shared_and_how(one, other):
    assert errors_of(one + "\n" + other)[0][0] == 2
    lowered(one + "\n" + one)


STARS = """typedef int J[10];
typedef shared [*] J K[10];
typedef K L[10];
typedef shared [*] int S;
K k; L l; S s[7]; S one;
unsigned long sizes[] = {upc_blocksizeof(K), upc_blocksizeof(L), upc_blocksizeof(S)};
K *pointer;
void f(L parameter) { pointer = parameter; parameter++; pointer++; }
"""


def test_a_star_in_a_typedef_is_worked_out_for_each_array_that_is_declared():
    """UPC 1.3, 6.5.1.1: by the size of the array that is distributed, which public tests expect of typedefs of typedefs as well."""
    text = lowered(STARS.replace("pointer = parameter; ", ""), threads=2)
    for name, count, block in (("k", 100, 50), ("l", 1000, 500), ("s", 7, 4), ("one", 1, 1)):
        assert re.search(
            rf'ncupc_place\(&{name}, "{name}", sizeof\(\w+\), {count}, {block}, NCUPC_HERE\);', text
        )
    assert "{(size_t) 50, (size_t) 500, (size_t) 1}" in text
    assert "parameter = ncupc_add(parameter, 1 * 100, sizeof(int), 500);" in text
    assert "pointer = ncupc_add(pointer, 1 * 100, sizeof(int), 50);" in text
    assert "block sizes differ, [500] and [50]" in errors_of(STARS, threads=2)[0][1]


def test_main_is_what_the_runtime_calls():
    for source in (
        "int main(void) { }",
        "main() { }",
        "void main(int argc, char *argv[]) { return; }",
        "int main(int c, const char **v) { return c; }",
    ):
        printed = lowered(source)
        printed = printed.replace(" __attribute__((unused))", "")
        assert re.search(r"int ncupc_main\(int \w+, char \*\*? ?\w+(\[\])?\)", printed), printed
        assert "return" in printed


def test_main_goes_by_its_name():
    """In C it is another one, which assert() would tell."""
    body = "const char *one = __func__, *other = __FUNCTION__;"
    assert 'one = "main"' in lowered(f"int main(void) {{ {body} }}")
    assert 'other = "main"' in lowered(f"int main(void) {{ {body} }}")
    assert "one = __func__" in lowered(f"int main_(void) {{ {body} return 0; }}")
    assert "one = __func__" in lowered(
        f"int main(void) {{ int inner(void) {{ {body} return 0; }} }}"
    )


@pytest.mark.parametrize(
    "row, index, printed",
    [
        ("1000000000", "3", "(ptrdiff_t) 3 * 1000000000 + j"),
        ("1000000000", "1", "1 * 1000000000 + j"),
        ("1000000000", "2", "(ptrdiff_t) 2 * 1000000000 + j"),
        ("10", "1u", "(ptrdiff_t) 1u * 10 + j"),
    ],
)
def test_a_row_is_found_beyond_what_an_int_counts(row, index, printed):
    text = lowered(f"shared [] char m[4][{row}]; int f(int j) {{ return m[{index}][j]; }}")
    assert f"ncupc_element(m, {printed}," in text


def errors_of(text, **options):
    with pytest.raises(UpcErrors) as caught:
        lowered(text, **options)
    return [
        (coord.line, message)
        for coord, severity, message in caught.value.diagnostics
        if severity == "error"
    ]


def test_all_errors_of_a_file_are_told_at_once_with_their_lines():
    found = errors_of(
        "shared [-1] int a[THREADS];\nint main() {\n  shared int x;\n  nowhere = 1;\n  return 0;\n}\n"
    )
    assert [line for line, _ in found] == [1, 3, 4]
    assert (
        "negative" in found[0][1]
        and "automatic" in found[1][1]
        and "'nowhere' is not declared" in found[2][1]
    )


def test_a_phase_is_not_lost_without_a_cast():
    ((line, message),) = errors_of(
        "shared [2] int a[2*THREADS];\nshared [3] int *p;\nvoid f(void) { p = a; }\n"
    )
    assert line == 3 and "block sizes differ, [2] and [3]" in message and "cast" in message


def test_an_error_is_told_once():
    assert len(errors_of("void f(void) { y = 1; y = 2; y = y + 1; }")) == 1


@pytest.mark.parametrize("again", ["int x;", "static int x;", "int x[3];", "int x(void);"])
def test_a_shared_object_declared_again_as_private_is_told(again):
    ((line, message),) = errors_of(f"shared int x;\n{again}\n")
    assert line == 2 and "shared where it was declared before" in message


@pytest.mark.parametrize("arguments", ["", "1", "1, 2", "int"])
def test_offsetof_of_something_else_is_told(arguments):
    ((_, message),) = errors_of(f"int f(void) {{ return offsetof({arguments}); }}")
    assert "offsetof takes a type and a member" in message


@pytest.mark.parametrize("arguments", ["", "int", "1"])
def test_va_arg_of_something_else_is_left_to_the_c_compiler(arguments):
    assert f"va_arg({arguments})" in lowered(f"int f(void) {{ return va_arg({arguments}); }}")


@pytest.mark.parametrize("declared", ["*p", "p[THREADS]"])
def test_a_layout_that_names_its_object_is_told(declared):
    messages = [message for _, message in errors_of(f"shared [3 + p] char {declared};")]
    assert "the layout is not a constant expression: p" in messages
