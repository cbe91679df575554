// A shared pointer to shared is stepped in place, through a pointer and as a member.
#include "check.h"

struct cursor { int id; shared [2] int *at; };
shared [2] int a[4 * THREADS];
shared [2] int *shared pointers[THREADS];
shared struct cursor cursors[THREADS];

int main(void)
{
    int peer = (MYTHREAD + 1) % THREADS;
    pointers[peer] = a;
    cursors[peer].at = &a[1];
    CHECK(pointers[peer]++ == a);
    CHECK(++pointers[peer] == &a[2]);
    pointers[peer] += 1;
    CHECK(pointers[peer] == a + 3);
    cursors[peer].at++;
    CHECK(cursors[peer].at-- == &a[2]);
    cursors[peer].at += 2;
    CHECK(cursors[peer].at == &a[3]);
    CHECK_EQ(cursors[peer].at - pointers[peer], 0);
    return check_failures;
}
