// An extern declaration within a function names the shared object of file scope (C99 6.2.2).
#include "check.h"

static int read_total(void)
{
    extern shared int total;
    return total;
}

shared int total = 77;

int main(void)
{
    CHECK_EQ(read_total(), 77);
    {
        int total = 1;
        {
            extern shared int total;
            CHECK_EQ(total, 77);
        }
        CHECK_EQ(total, 1);
    }
    return check_failures;
}
