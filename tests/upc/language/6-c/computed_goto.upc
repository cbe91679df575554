// Labels as values (GNU C): a little interpreter whose program is in shared memory.
#include "check.h"

shared [] int code[7] = {0, 5, 1, 3, 0, 4, 2};

int main(void)
{
    static const void *const jump[] = {&&push, &&add, &&end};
    int at = 0, accumulator = 0, operand;
    goto *jump[code[at++]];
push:
    accumulator = accumulator * 10 + code[at++];
    goto *jump[code[at++]];
add:
    operand = code[at++];
    accumulator += operand;
    goto *jump[code[at++]];
end:
    CHECK_EQ(accumulator, (5 + 3) * 10 + 4);
    CHECK_EQ(at, 7);
    return check_failures;
}
