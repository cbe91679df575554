// #ifdef __UPC__ lets one source serve C and UPC.
#include "check.h"

#ifdef __UPC__
#define SHARED shared
#else
#define SHARED
#define MYTHREAD 0
#endif

SHARED int n;

int main(void)
{
#if defined __UPC__ && __UPC_VERSION__ >= 201311L
    if (MYTHREAD == 0)
        n = 1;
    upc_barrier;
#endif
    CHECK_EQ(n, 1);
    return check_failures;
}
