// Initialisers of shared structures, unions and arrays of them, with designators (C99 6.7.8).
#include "check.h"

struct point { int x, y; };
struct shape { const char tag[4]; struct point corner[2]; double weight; };
shared struct shape one = {"abc", {{1, 2}, {3, 4}}, 0.5};
shared [] struct shape two[3] = {[1] = {.weight = 2.5, .corner[1] = {.y = 9}}, {"z"}};
shared union { int i; float f; } either = {.f = 1.5f};
shared [] int sparse[10] = {[3] = 7, 8, [9] = 1};

int main(void)
{
    CHECK(one.tag[2] == 'c' && one.corner[1].x == 3 && one.weight == 0.5);
    CHECK(two[0].weight == 0 && two[1].weight == 2.5 && two[1].corner[1].y == 9 && two[1].corner[1].x == 0);
    CHECK_EQ(two[2].tag[0], 'z');
    CHECK(either.f == 1.5f);
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += i * sparse[i];
    CHECK_EQ(sum, 3 * 7 + 4 * 8 + 9);
    return check_failures;
}
