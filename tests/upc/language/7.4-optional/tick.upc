// upc_tick.h: a counter that grows, and its ticks in nanoseconds (7.4.1).
#include <upc_tick.h>
#include "check.h"

int main(void)
{
    upc_tick_t start = upc_ticks_now(), now = start;
    for (int i = 0; i < 1000; i++) {
        upc_tick_t later = upc_ticks_now();
        CHECK(later >= now);
        now = later;
    }
    while (upc_ticks_to_ns(upc_ticks_now() - start) < 1000000)
        ;
    CHECK(upc_ticks_to_ns(0) == 0);
    CHECK(upc_ticks_to_ns(upc_ticks_now() - start) >= 1000000);
    return check_failures;
}
