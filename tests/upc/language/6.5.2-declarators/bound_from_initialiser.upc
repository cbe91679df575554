// The bound of a shared array may come from its initialiser (C99 6.7.8).
#include <stddef.h>
#include "check.h"

shared [] int a[] = {3, 1, 4, 1, 5};
shared [] const char greeting[] = "good day";
shared [] const char accents[] = "é\u00e9" u8"\x41\102";
shared [] const wchar_t wide[] = L"aé\u20ac", braced[] = {L"ab"};
shared [] const unsigned short words[] = u"a\U0001f600";
shared [] const char rows[][8] = {"abc"};

int main(void)
{
    CHECK_EQ(sizeof a / sizeof a[0], 5);
    CHECK_EQ(a[4], 5);
    CHECK_EQ(sizeof greeting, 9);
    CHECK_EQ(greeting[5], 'd');
    CHECK_EQ(sizeof accents, 7);
    CHECK_EQ((unsigned char) accents[3], 0xa9);
    CHECK_EQ(accents[4], 'A');
    CHECK_EQ(accents[6], 0);
    CHECK_EQ(sizeof wide / sizeof wide[0], 4);
    CHECK_EQ(wide[1], 0xe9);
    CHECK_EQ(wide[3], 0);
    CHECK_EQ(sizeof braced / sizeof braced[0], 3);
    CHECK_EQ(braced[1], 'b');
    CHECK_EQ(sizeof words, 8);
    CHECK_EQ(words[2], 0xde00);
    CHECK_EQ(sizeof rows, 8);
    CHECK_EQ(rows[0][2], 'c');
    return check_failures;
}
