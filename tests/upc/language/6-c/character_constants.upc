// Character constants, those of several characters too, have C's values wherever they stand (C11 6.4.4.4).
#include "check.h"

#pragma GCC diagnostic ignored "-Wmultichar"

shared int tag;
shared ['e' - 97] int blocks[4 * THREADS];
enum { MAGIC = 'UPC!', NUL = '\0' };

int main(void)
{
    const unsigned char *c = (const unsigned char *) "\0123\x41";
    if (MYTHREAD == 0)
        tag = 'ab';
    upc_barrier;
    CHECK_EQ(tag, 'a' << 8 | 'b');
    CHECK_EQ('\0ab', 'a' << 8 | 'b');
    CHECK_EQ('\12' * 100 + '\x41', 1065);
    CHECK_EQ('\0123', '\012' << 8 | '3');
    CHECK_EQ('\n1', '\n' << 8 | '1');
    CHECK_EQ(MAGIC >> 24, 'U');
    CHECK_EQ(upc_blocksizeof(blocks), 4);
    CHECK_EQ(c[0] * 100 + c[1], 1051);
    switch (tag) {
    case 'ab':
        break;
    default:
        CHECK(NUL);
    }
    return check_failures;
}
