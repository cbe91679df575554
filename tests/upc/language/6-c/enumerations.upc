// Enumerations as types of shared objects, as sizes and cases.
#include "check.h"

enum colour { RED, GREEN = 5, BLUE, COUNT = 3 };
typedef enum { OFF, ON } state;
shared enum colour c[COUNT * THREADS];
shared state switches[THREADS];

int main(void)
{
    upc_forall (int i = 0; i < COUNT * THREADS; i++; i)
        c[i] = i % 2 ? GREEN : BLUE;
    switches[(MYTHREAD + 1) % THREADS] = ON;
    upc_barrier;
    for (int i = 0; i < COUNT * THREADS; i++)
        CHECK_EQ(c[i], i % 2 ? 5 : 6);
    switch (c[1]) {
    case GREEN:
        break;
    case RED:
    case BLUE:
    default:
        CHECK(0);
    }
    CHECK(switches[MYTHREAD] == ON);
    upc_barrier;
    c[MYTHREAD]++;
    CHECK_EQ(c[MYTHREAD], MYTHREAD % 2 ? BLUE : 7);
    return check_failures;
}
