// After a jump out of upc_forall the next upc_forall shares its iterations again (6.6.2 leaves the jump itself undefined).
#include <setjmp.h>
#include "check.h"

shared int who[4 * THREADS];
static jmp_buf outside, inside;
static volatile int jumps;

static void work(int depth)
{
    int i;
    upc_forall (i = 0; i < 2 * THREADS; i++; i) {
        if (depth > 0)
            work(depth - 1);
        else
            longjmp(outside, 7);
    }
}

static int shared_out(void)
{
    int mine = 0;
    upc_forall (int i = 0; i < 4 * THREADS; i++; i)
        mine++;
    return mine;
}

int main(void)
{
    volatile int code = setjmp(outside);
    if (code == 0)
        work(2);
    CHECK_EQ(code, 7);
    CHECK_EQ(shared_out(), 4);
    upc_forall (int i = 0; i < THREADS; i++; i) {
        switch (setjmp(inside)) {
        case 0:
            upc_forall (int j = 0; j < THREADS; j++; continue) {
                jumps++;
                longjmp(inside, 3);
            }
        }
        CHECK_EQ(shared_out(), 4 * THREADS); // still inside the controlling upc_forall
    }
    CHECK_EQ(jumps, 1);
    if (!setjmp(outside))
        work(0);
    CHECK_EQ(shared_out(), 4);
    return check_failures;
}
