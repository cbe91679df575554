// The functions take any pointer to shared and any private one (7.2.5).
#include <upc.h>
#include "check.h"

struct record { int id; double x[3]; shared int *link; };
shared struct record records[THREADS];
shared int target;

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS;
    struct record r = {MYTHREAD, {1.5, 2.5, 3.5}, &target}, s;
    upc_memput(&records[next], &r, sizeof r);
    upc_barrier;
    shared void *generic = &records[MYTHREAD];
    upc_memget(&s, generic, sizeof s);
    CHECK_EQ(s.id, (MYTHREAD + THREADS - 1) % THREADS);
    CHECK(s.x[2] == 3.5 && s.link == &target);
    const void *constant = &r;
    upc_memput(generic, constant, sizeof(int));
    CHECK_EQ(records[MYTHREAD].id, MYTHREAD);
    return check_failures;
}
