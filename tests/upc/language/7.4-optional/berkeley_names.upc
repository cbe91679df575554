// Berkeley UPC's tick timers and polls, which its <upc.h> declares.
#include <upc.h>
#include "check.h"

strict shared int turn;

int main(void)
{
    bupc_tick_t start = bupc_ticks_now();
    while (turn != MYTHREAD)
        upc_poll();
    turn = turn + 1;
    while (turn != THREADS)
        bupc_poll();
    bupc_tick_t ticks = bupc_ticks_now() - start;
    CHECK(ticks > 0 && ticks < BUPC_TICK_MAX);
    CHECK(bupc_ticks_to_ns(ticks) / 1000 == bupc_ticks_to_us(ticks));
    CHECK(bupc_tick_granularity() == bupc_tick_granularityus() && bupc_tick_overheadus() >= 0);
    return check_failures;
}
