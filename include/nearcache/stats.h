/* SPDX-License-Identifier: BSD-3-Clause */
/* Nearcache's statistics: one versioned struct, the same for every front end.
 *
 * The fields come from the table nearcache/counters.def: one row per counter, with its unit and
 * meaning. */
#ifndef NEARCACHE_STATS_H
#define NEARCACHE_STATS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when fields are added at the end; existing fields never move. */
#define NEARCACHE_STATS_VERSION 1

/* Before a call that fills it, set `size` to sizeof(nearcache_stats): a library that knows more
 * counters than the caller fills only those that fit; one that knows fewer sets the rest to zero.
 */
typedef struct nearcache_stats {
  size_t size;       /* in: bytes of this struct as the caller was compiled */
  uint32_t version;  /* out: NEARCACHE_STATS_VERSION of the library */
  uint32_t reserved; /* 0 */
#define NEARCACHE_COUNTER(name, kind, unit, help) uint64_t name; /* help */
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER
} nearcache_stats;

#ifdef __cplusplus
}
#endif
#endif
