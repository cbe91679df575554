#include "extern_shared.h"

shared [] int other_table[3] = {10, 20, 30};

void set_value(int block, double value)
{
    values[3 * block] = value;
}

void bump(void)
{
    counter++;
    pointer = &counter;
}
