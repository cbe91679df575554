// The declaration in the first expression is local to the loop and may hide another name.
#include "check.h"

shared int a[THREADS];

int main(void)
{
    int i = 77;
    upc_forall (int i = 0; i < THREADS; i++; &a[i]) {
        int i = 5;
        a[MYTHREAD] = i;
    }
    CHECK_EQ(i, 77);
    CHECK_EQ(a[MYTHREAD], 5);
    return check_failures;
}
