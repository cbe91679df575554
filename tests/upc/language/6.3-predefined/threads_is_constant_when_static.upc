// With a static number of threads THREADS is an integer constant: case labels, enumerations, sizes of static private arrays (6.3.1).
// environment: static
#include "check.h"

enum { HALF = THREADS / 2, FULL = THREADS };
static int row[THREADS];
static const int initial = THREADS * 3;
struct rows { int of[THREADS]; };

int main(void)
{
    CHECK_EQ(FULL, THREADS);
    CHECK_EQ(HALF, THREADS / 2);
    CHECK_EQ(sizeof row, THREADS * sizeof(int));
    CHECK_EQ(sizeof(struct rows), THREADS * sizeof(int));
    CHECK_EQ(initial, 3 * THREADS);
    switch (row[0] + THREADS) {
    case THREADS:
        break;
    default:
        CHECK(0);
    }
    return check_failures;
}
