// _Pragma works as #pragma does (C99 6.10.9).
#include "check.h"

shared int flag[THREADS];

int main(void)
{
    _Pragma("upc strict")
    flag[(MYTHREAD + 1) % THREADS] = 1;
    while (!flag[MYTHREAD])
        ;
    CHECK_EQ(flag[MYTHREAD], 1);
    return check_failures;
}
