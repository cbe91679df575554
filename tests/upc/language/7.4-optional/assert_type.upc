// bupc_assert_type, of Berkeley UPC: 1 where two types, or those of expressions that are not evaluated, are one at every level.
#include "check.h"

typedef shared [20] int twenty;
typedef shared [2] int *(*function)(const int *, shared float *);
typedef int *local;
typedef struct { int x; shared [3] const double *p; } record;

shared int y;
shared [10] int x[100 * THREADS];
twenty a[THREADS];
shared const int *shared volatile w;
shared [10] local arr1[100 * THREADS];
int *shared [10] arr2[100 * THREADS];
record one;
function f;
int called;

static int call(void)
{
    called++;
    return 0;
}

int main(void)
{
    _Static_assert(bupc_assert_type(y, shared int), "in a constant expression");
    CHECK_EQ(bupc_assert_type(MYTHREAD, int), 1);
    CHECK_EQ(bupc_assert_type(&(x[10]), shared [10] int *), 1);
    CHECK_EQ(bupc_assert_type(a[0], twenty), 1);
    CHECK_EQ(bupc_assert_type(a[0], shared [20] int), 1);
    CHECK_EQ(bupc_assert_type(w, shared const int *shared volatile), 1);
    CHECK_EQ(bupc_assert_type(&w, shared const int *shared volatile *), 1);
    CHECK_EQ(bupc_assert_type(*w, shared const int), 1);
    CHECK_EQ(bupc_assert_type(arr1, arr2), 1);
    CHECK_EQ(bupc_assert_type(*(arr1[0]), int), 1);
    CHECK_EQ(bupc_assert_type(function, f), 1);
    CHECK_EQ(bupc_assert_type(record, one), 1);
    CHECK_EQ(bupc_assert_type(size_t, upc_blocksizeof(x)), 1);
    CHECK_EQ(bupc_assert_type(call(), int), 1);
    CHECK_EQ(called, 0);
    return check_failures;
}
