// switch over shared values, ranges of cases, fallthrough, goto into and out of blocks (C99 6.8).
#include "check.h"

shared int mode[THREADS];

static int classify(int n)
{
    switch (n) {
    case -5 ... -1:
        return 0;
    case 0:
        n += 100;
        /* fall through */
    case 1:
        return n + 1;
    case 2: {
        int inner = n * 2;
        return inner;
    }
    default:
        break;
    }
    return -1;
}

int main(void)
{
    int peer = (MYTHREAD + 1) % THREADS, tries = 0;
    int wanted[] = {0, 101, 2, 4, -1}, values[] = {-3, 0, 1, 2, 3};
    for (int i = 0; i < 5; i++) {
        mode[peer] = values[i];
        CHECK_EQ(classify(mode[peer]), wanted[i]);
    }
again:
    switch (mode[peer]) {
    case 3:
        mode[peer] = 8;
        goto again;
    case 8:
        tries++;
        mode[peer]++;
        if (tries < 3)
            goto again;
    }
    CHECK_EQ(mode[peer], 9);
    CHECK_EQ(tries, 1);
    return check_failures;
}
