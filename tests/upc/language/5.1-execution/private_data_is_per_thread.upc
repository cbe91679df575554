// An object that is not shared exists once for every thread, also with static storage duration (5.1.2, 6.5).
#include "check.h"

int global = 10;
static int of_file = 20;

static int counted(void)
{
    static int count;
    return ++count;
}

int main(void)
{
    global += MYTHREAD;
    of_file -= MYTHREAD;
    for (int i = 0; i <= MYTHREAD; i++)
        counted();
    upc_barrier;
    CHECK_EQ(global, 10 + MYTHREAD);
    CHECK_EQ(of_file, 20 - MYTHREAD);
    CHECK_EQ(counted(), MYTHREAD + 2);
    return check_failures;
}
