// upc_blocksizeof of an array of layout [*]: the elements dealt evenly over the threads, rounded up (6.4.1.2, 6.5.1.1).
#include "check.h"

shared [*] int even[6 * THREADS];
shared [*] char one[THREADS];
shared [*] int rows[THREADS][3];

int main(void)
{
    CHECK_EQ(upc_blocksizeof(even), 6);
    CHECK_EQ(upc_blocksizeof(one), 1);
    CHECK_EQ(upc_blocksizeof(rows), 3);
    return check_failures;
}
