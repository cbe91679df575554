// A strict read of another thread's memory sees, in the end, what that thread wrote.
#include "check.h"

strict shared int stage;
shared [] int payload[4];

int main(void)
{
    if (MYTHREAD == 0) {
        for (int i = 0; i < 4; i++)
            payload[i] = 7 * i + 1;
        stage = 1;
    }
    while (stage == 0)
        ;
    for (int i = 0; i < 4; i++)
        CHECK_EQ(payload[i], 7 * i + 1);
    return check_failures;
}
