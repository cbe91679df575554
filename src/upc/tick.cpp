// SPDX-License-Identifier: BSD-3-Clause

// upc_tick.h and Berkeley's timers: nanoseconds of the monotonic clock.
#include <time.h>

#include "upc/internal.h"

extern "C" {

upc_tick_t upc_ticks_now(void) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<upc_tick_t>(now.tv_sec) * 1'000'000'000 + static_cast<upc_tick_t>(now.tv_nsec);
}

uint64_t upc_ticks_to_ns(upc_tick_t ticks) { return ticks; }

bupc_tick_t bupc_ticks_now(void) { return upc_ticks_now(); }
uint64_t bupc_ticks_to_us(bupc_tick_t ticks) { return ticks / 1000; }
uint64_t bupc_ticks_to_ns(bupc_tick_t ticks) { return ticks; }

double bupc_tick_granularity(void) {
  timespec step;
  clock_getres(CLOCK_MONOTONIC, &step);
  return static_cast<double>(step.tv_sec) * 1e6 + static_cast<double>(step.tv_nsec) * 1e-3;
}

double bupc_tick_overhead(void) {
  constexpr int calls = 1000;
  const upc_tick_t start = upc_ticks_now();
  upc_tick_t last = start;
  for (int i = 0; i < calls; ++i) last = upc_ticks_now();
  return static_cast<double>(last - start) * 1e-3 / calls;
}

double bupc_tick_granularityus(void) { return bupc_tick_granularity(); }
double bupc_tick_overheadus(void) { return bupc_tick_overhead(); }

}  // extern "C"
