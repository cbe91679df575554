// Functions of the C library on private copies: qsort with a callback, string functions, mathematics.
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <upc.h>
#include "check.h"

shared [8] int a[8 * THREADS];
shared [32] char names[32 * THREADS];

static int ascending(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }

int main(void)
{
    int *mine = (int *)&a[8 * MYTHREAD];
    for (int i = 0; i < 8; i++)
        mine[i] = (i * 5 + MYTHREAD) % 8;
    qsort(mine, 8, sizeof *mine, ascending);
    snprintf((char *)&names[32 * MYTHREAD], 32, "thread %d", MYTHREAD);
    upc_barrier;
    for (int i = 0; i < 8 * THREADS; i++)
        CHECK_EQ(a[i], i % 8);
    for (int t = 0; t < THREADS; t++) {
        char name[32];
        upc_memget(name, &names[32 * t], 32);
        CHECK_EQ(atoi(strrchr(name, ' ')), t);
        CHECK(isalpha((unsigned char)name[0]) && toupper(names[32 * t]) == 'T');
    }
    CHECK(fabs(sqrt(a[4]) - 2) < 1e-12 && fmax(a[1], a[2]) == 2);
    errno = ERANGE;
    CHECK(errno == ERANGE && INT_MAX > 0 && time(NULL) > 0);
    CHECK(strtol("17", NULL, 10) == 17);
    return check_failures;
}
