// Static shared objects of one name in different blocks are different objects (C99 6.2.1).
#include "check.h"

static int in_one(void)
{
    static shared int x = 100;
    return x;
}

static int in_another(void)
{
    static shared int x = 200;
    {
        static shared int x = 300;
        if (x != 300)
            return -1;
    }
    return x;
}

shared int x = 400;

int main(void)
{
    CHECK_EQ(in_one(), 100);
    CHECK_EQ(in_another(), 200);
    CHECK_EQ(x, 400);
    {
        int x = 5;
        CHECK_EQ(x, 5);
    }
    return check_failures;
}
