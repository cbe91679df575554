// The classic loops: *d++ = *s++ from shared to private, private to shared, shared to shared.
#include "check.h"

shared [4] char text[8 * THREADS];
shared [3] char copy[9 * THREADS];

int main(void)
{
    if (MYTHREAD == THREADS - 1) {
        const char *from = "abcdefg";
        char back[8], *to = back;
        shared [4] char *d = text;
        while ((*d++ = *from++))
            ;
        CHECK_EQ(d - text, 8);
        shared [4] char *s = text;
        while ((*to++ = *s++) != '\0')
            ;
        CHECK_EQ(to - back, 8);
        for (int i = 0; i < 8; i++)
            CHECK_EQ(back[i], "abcdefg"[i]);
        shared [3] char *c = copy;
        for (s = text; *s; s++, c++)
            *c = *s - 'a' + 'A';
        *c = 0;
        CHECK_EQ(copy[6], 'G');
        CHECK_EQ(copy[7], 0);
        c = copy;
        int length = 0;
        while (*c++)
            length++;
        CHECK_EQ(length, 7);
    }
    return check_failures;
}
