// Program order holds for accesses of different sizes to the same bytes.
#include "check.h"
#include <string.h>

union word { unsigned long whole; unsigned char byte[8]; unsigned short half[4]; };
shared union word words[THREADS];

int main(void)
{
    int peer = (MYTHREAD + 1) % THREADS;
    for (int i = 0; i < 50; i++) {
        union word model;
        words[peer].whole = model.whole = 0x0102030405060708ul + i;
        words[peer].byte[3] = model.byte[3] = (unsigned char)(i * 3);
        words[peer].half[2] = model.half[2] = (unsigned short)(i * 1000);
        CHECK_EQ(words[peer].whole, model.whole);
        CHECK_EQ(words[peer].half[1], model.half[1]);
        CHECK_EQ(words[peer].byte[4], model.byte[4]);
    }
    return check_failures;
}
