// Designated initialisers, compound literals, nested (C99 6.7.8, 6.5.2.5).
#include "check.h"

struct point { int x, y; };
struct box { struct point low, high; int list[4]; };
shared struct box boxes[THREADS];

static int area(struct box b) { return (b.high.x - b.low.x) * (b.high.y - b.low.y); }

int main(void)
{
    struct box b = {.high = {.y = 5, .x = 4}, .low.x = 1, .list = {[2] = 7}};
    int peer = (MYTHREAD + 1) % THREADS;
    boxes[peer] = b;
    CHECK_EQ(area(boxes[peer]), 15);
    boxes[peer] = (struct box){{0, 0}, {2, 3}, {1, 2, 3, 4}};
    CHECK_EQ(area(boxes[peer]), 6);
    CHECK_EQ(boxes[peer].list[3], 4);
    boxes[peer].low = (struct point){.y = -1};
    CHECK_EQ(area(boxes[peer]), 8);
    CHECK_EQ(((int[]){10, 20, 30})[boxes[peer].list[0]], 20);
    return check_failures;
}
