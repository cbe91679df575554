/* SPDX-License-Identifier: BSD-3-Clause */
/* Berkeley UPC's extensions, for programs that use them without checking for Berkeley's compiler:
 * they are in its <upc.h>, and so in ours. This file has timers, poll, threads and pointers; the
 * others have files of their own. */
#ifndef NEARCACHE_UPC_BUPC_EXTENSIONS_H
#define NEARCACHE_UPC_BUPC_EXTENSIONS_H

#include <stddef.h>

#include "upc_declare.h"
#include "upc_tick.h"

#include "bupc_atomics.h"
#include "bupc_copies.h"
#include "bupc_semaphores.h"

/* ---- Timers ---- */

typedef upc_tick_t bupc_tick_t;

#define BUPC_TICK_MAX UPC_TICK_MAX
#define BUPC_TICK_MIN UPC_TICK_MIN

bupc_tick_t bupc_ticks_now(void);
uint64_t bupc_ticks_to_us(bupc_tick_t ticks);
uint64_t bupc_ticks_to_ns(bupc_tick_t ticks);
/* The resolution of the clock, and the cost of one call, both in microseconds. */
double bupc_tick_granularity(void);
double bupc_tick_overhead(void);
double bupc_tick_granularityus(void); /* their older names */
double bupc_tick_overheadus(void);

/* ---- Threads ---- */

/* For loops that wait for another thread: a fence, which also lets the network and other threads on
 * this processor make progress. */
void bupc_poll(void);
void upc_poll(void);

/* Returns how far thread y's memory is from thread x: the same thread, within reach of its loads
 * and stores, or over the network. */
#define BUPC_THREADS_SAME 0
#define BUPC_THREADS_VERYNEAR 100
#define BUPC_THREADS_NEAR 200
#define BUPC_THREADS_FAR 300
#define BUPC_THREADS_VERYFAR 400
unsigned int bupc_thread_distance(int x, int y);

/* ---- Pointers ---- */

/* Returns the address at which this thread loads and stores what ptr points to; NULL if it cannot,
 * or if ptr is null. */
void* bupc_cast(NCUPC_SHARED_CONST ptr);
/* Return 1 if this thread can load and store what ptr points to (also if ptr is null), or all
 * shared memory of a thread; else 0. */
int bupc_castable(NCUPC_SHARED_CONST ptr);
int bupc_thread_castable(unsigned int thread);
/* Returns a pointer to shared, with phase 0, to the memory at address `ptr`; null if it is not
 * shared memory. */
NCUPC_SHARED bupc_inverse_cast(void* ptr);
/* Returns a pointer with the given phase to the memory of `thread` that corresponds to `ptr` on
 * this thread. `ptr` must be in this thread's shared memory. */
NCUPC_SHARED bupc_local_to_shared(void* ptr, int thread, int phase);
/* Returns the pointer `elements` further in an array of elements of `size` bytes in blocks of
 * `block`, which need not be constants. */
NCUPC_SHARED bupc_ptradd(NCUPC_SHARED p, size_t block, size_t size, ptrdiff_t elements);

/* Writes a description of ptr in at most `size` characters, including the terminating 0. Returns 0;
 * or -1 with EINVAL if size is less than BUPC_DUMP_MIN_LENGTH. */
#define BUPC_DUMP_MIN_LENGTH 100
int bupc_dump_shared(NCUPC_SHARED_CONST ptr, char* text, int size);
#define UPC_DUMP_MIN_LENGTH BUPC_DUMP_MIN_LENGTH
#define upc_dump_shared(ptr, text, size) bupc_dump_shared((ptr), (text), (size))

/* ---- Environment variables of each thread, and tracing, which is not supported. ---- */

char* bupc_getenv(const char* name);
#define bupc_trace_printf(parenthesised) ((void)0)
void bupc_trace_setmask(const char* mask);
void bupc_stats_setmask(const char* mask);
const char* bupc_trace_getmask(void);
const char* bupc_stats_getmask(void);
void bupc_trace_settracelocal(int on);
int bupc_trace_gettracelocal(void);

#endif
