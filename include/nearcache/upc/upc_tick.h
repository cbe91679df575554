/* SPDX-License-Identifier: BSD-3-Clause */
/* A high-resolution clock (UPC optional library, section 7.6). Plain C. */
#ifndef NEARCACHE_UPC_UPC_TICK_H
#define NEARCACHE_UPC_UPC_TICK_H

#include <stdint.h>

#ifndef __UPC_TICK__
#define __UPC_TICK__ 1
#endif

typedef uint64_t upc_tick_t;

#define UPC_TICK_MAX UINT64_MAX
#define UPC_TICK_MIN ((upc_tick_t)0)

/* Returns ticks since an arbitrary moment, different for each thread: only differences are
 * meaningful, and only within a thread. */
upc_tick_t upc_ticks_now(void);
uint64_t upc_ticks_to_ns(upc_tick_t ticks);

#endif
