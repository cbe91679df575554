// A shared pointer to private: the pointer is everyone's, what it points to belongs to who set it (6.5.1.1).
#include "check.h"

int *shared p[THREADS];

int main(void)
{
    int x = 40 + MYTHREAD;
    p[MYTHREAD] = &x;
    *p[MYTHREAD] += 2;
    CHECK_EQ(x, 42 + MYTHREAD);
    upc_barrier;
    int *mine = p[MYTHREAD];
    CHECK(mine == &x);
    upc_barrier;
    return check_failures;
}
