// The bound comes from the initialiser also where inner braces are left out (C11 6.7.9).
#include "check.h"

#pragma GCC diagnostic ignored "-Wmissing-braces"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

struct pair { int a, b; };
shared [] struct { char name[8]; int v; } words[] = {"ab", 1, "cd", 2};
shared [] struct { int a : 3; int : 5; int b : 8; } bits[] = {1, 2, 3, 4, 3, 6};
shared [] union { struct pair both; int one; } unions[] = {1, 2, 3, 4};
shared [] struct pair pairs[] = {[2] = 1, 2, [0].b = 3, 4, 5, [4].a = 7, [3] = {8}};
shared [] struct { struct pair p[2]; int c; } deep[] = {1, 2, 3, 4, 5, {6, 7}, 8, 9, 10};
shared [] char rows[][4] = {"abc", 'd', 'e', 0, 0, {"f"}};

int main(void)
{
    CHECK_EQ(sizeof words / sizeof words[0], 2);
    CHECK(words[1].name[1] == 'd' && words[1].v == 2);
    CHECK_EQ(sizeof bits / sizeof bits[0], 3);
    CHECK(bits[2].a == 3 && bits[2].b == 6);
    CHECK_EQ(sizeof unions / sizeof unions[0], 2);
    CHECK(unions[1].both.a == 3 && unions[1].both.b == 4);
    CHECK_EQ(sizeof pairs / sizeof pairs[0], 5);
    CHECK(pairs[0].b == 3 && pairs[1].a == 4 && pairs[1].b == 5 && pairs[2].b == 2);
    CHECK(pairs[3].a == 8 && pairs[4].a == 7);
    CHECK_EQ(sizeof deep / sizeof deep[0], 3);
    CHECK(deep[0].c == 5 && deep[1].p[0].b == 7 && deep[2].p[0].a == 8 && deep[2].p[1].a == 10);
    CHECK_EQ(sizeof rows / sizeof rows[0], 3);
    CHECK(rows[1][1] == 'e' && rows[2][0] == 'f');
    return check_failures;
}
