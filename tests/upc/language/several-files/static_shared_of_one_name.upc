// Static shared objects of one name in two files are two objects (C99 6.2.2).
// files: static_shared_other.upc
#include "check.h"

static shared int secret[THREADS];
int *other_start(void);
int other_secret(int thread);
void set_other_secret(int thread, int value);

static int local_only(void) { return 1; }

int main(void)
{
    int peer = (MYTHREAD + 1) % THREADS;
    secret[peer] = 1 + MYTHREAD;
    set_other_secret(peer, 100 + MYTHREAD);
    upc_barrier;
    int writer = (MYTHREAD + THREADS - 1) % THREADS;
    CHECK_EQ(secret[MYTHREAD], 1 + writer);
    CHECK_EQ(other_secret(MYTHREAD), 100 + writer);
    CHECK_EQ(local_only(), 1);
    return check_failures;
}
