// bupc_assert_type warns where the types differ: in a qualifier, a layout, a length or more.
#include <upc.h>

typedef shared [2] int *(*function)(const int *, shared float *);
enum color { red };
shared int a[10 * THREADS], b[20 * THREADS];
static int call(void) { return 0; }

int main(void)
{
    int different = 0;
    different += bupc_assert_type(const volatile int, int); // warning: 'const volatile int' and 'int' are different types
    different += bupc_assert_type(const volatile int *, int *); // warning: different types
    different += bupc_assert_type(int *const, int *); // warning: different types
    different += bupc_assert_type(int **const **, int ****); // warning: different types
    different += bupc_assert_type(shared [10] int, shared [2] int); // warning: 'shared \[10\] int' and 'shared \[2\] int' are different types
    different += bupc_assert_type(shared int, int); // warning: different types
    different += bupc_assert_type(strict shared int, shared int); // warning: different types
    different += bupc_assert_type(function, int); // warning: different types
    different += bupc_assert_type(function, shared [2] int *(*)(int *, shared float *)); // warning: different types
    different += bupc_assert_type(int (*)(int), int (*)(int, ...)); // warning: different types
    different += bupc_assert_type(enum color, int); // warning: different types
    different += bupc_assert_type(int [3], int [4]); // warning: different types
    different += bupc_assert_type(a, b); // warning: different types
    different += bupc_assert_type(call(), long); // warning: 'int' and 'long' are different types
    return different;
}
