/* Berkeley UPC's tick timers and poll, for programs that use them without asking for Berkeley's compiler: its <upc.h> has them, and so
 * has ours. Plain C. */
#ifndef NEARCACHE_UPC_BUPC_EXTENSIONS_H
#define NEARCACHE_UPC_BUPC_EXTENSIONS_H

#include "upc_tick.h"

typedef upc_tick_t bupc_tick_t;

#define BUPC_TICK_MAX UPC_TICK_MAX
#define BUPC_TICK_MIN UPC_TICK_MIN

bupc_tick_t bupc_ticks_now(void);
uint64_t bupc_ticks_to_us(bupc_tick_t ticks);
uint64_t bupc_ticks_to_ns(bupc_tick_t ticks);
/* The smallest step of the clock, and what one call costs, both in microseconds. */
double bupc_tick_granularity(void);
double bupc_tick_overhead(void);
double bupc_tick_granularityus(void); /* their older names */
double bupc_tick_overheadus(void);

/* For loops that wait for another thread: a fence, and a chance for the network and for other threads of this processor. */
void bupc_poll(void);
void upc_poll(void);

#endif
