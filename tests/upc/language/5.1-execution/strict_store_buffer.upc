// Two strict writes followed by strict reads of the other's flag: not both threads may read the old value (5.1.2.3).
#include "check.h"

strict shared int flag[2 * THREADS];
shared int seen[2 * THREADS];

int main(void)
{
    for (int round = 1; round <= 25; round++) {
        if (MYTHREAD < 2 && THREADS > 1) {
            flag[MYTHREAD] = round;
            seen[MYTHREAD] = flag[1 - MYTHREAD];
        }
        upc_barrier;
        if (THREADS > 1)
            CHECK(seen[0] == round || seen[1] == round);
        upc_barrier;
    }
    return check_failures;
}
