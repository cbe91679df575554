// The expression of a barrier is what may be assigned to an int: a floating-point number is converted (6.6.1).
#include "check.h"

int main(void)
{
    double value = 2.75;
    upc_notify value;
    upc_wait 2;
    upc_barrier 3 + value;
    return check_failures;
}
