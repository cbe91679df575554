// Elements of shared vectors of GNU C are read, stored and updated one by one, of whatever type they are.
#include "check.h"

typedef int ints __attribute__((vector_size(16)));
typedef float floats __attribute__((vector_size(8)));
typedef short shorts __attribute__((mode(HI), vector_size(16)));
shared ints v[2 * THREADS];
strict shared shorts s[THREADS];
shared struct { char c; floats f; } m[THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS, i = 2;
    shared ints *p = &v[next];
    for (unsigned char k = 0; k < 4; k++)
        (*p)[k] = 10 * next + k;
    v[next][i++] += 5;
    v[next][0]--;
    CHECK_EQ(v[next][--i]++, 10 * next + 7);
    s[next][7] = -next;
    m[next].f[1] = next + 0.5f;
    m[next].f[0] = m[next].f[1] * 2;
    upc_barrier;
    ints mine = v[MYTHREAD];
    CHECK_EQ(mine[0], 10 * MYTHREAD - 1);
    CHECK_EQ(mine[1], 10 * MYTHREAD + 1);
    CHECK_EQ(mine[2], 10 * MYTHREAD + 8);
    CHECK_EQ(v[MYTHREAD][3], 10 * MYTHREAD + 3);
    CHECK_EQ(v[MYTHREAD + THREADS][1], 0);
    CHECK_EQ(s[MYTHREAD][7], -MYTHREAD);
    CHECK_EQ(s[MYTHREAD][6], 0);
    CHECK_EQ(sizeof(s[0][0]), 2);
    CHECK(m[MYTHREAD].f[0] == 2 * MYTHREAD + 1 && m[MYTHREAD].f[1] == MYTHREAD + 0.5f);
    return check_failures;
}
