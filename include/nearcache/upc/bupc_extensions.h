/* Berkeley UPC's extensions, for programs that use them without asking for Berkeley's compiler: its
 * <upc.h> has them, and so has ours. Here: timers, poll, threads and pointers; what else there is
 * has files of its own. */
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
/* The smallest step of the clock, and what one call costs, both in microseconds. */
double bupc_tick_granularity(void);
double bupc_tick_overhead(void);
double bupc_tick_granularityus(void); /* their older names */
double bupc_tick_overheadus(void);

/* ---- Threads ---- */

/* For loops that wait for another thread: a fence, and a chance for the network and for other
 * threads of this processor. */
void bupc_poll(void);
void upc_poll(void);

/* How far thread y's memory is from thread x: the same thread, within reach of its loads and
 * stores, or over the network. */
#define BUPC_THREADS_SAME 0
#define BUPC_THREADS_VERYNEAR 100
#define BUPC_THREADS_NEAR 200
#define BUPC_THREADS_FAR 300
#define BUPC_THREADS_VERYFAR 400
unsigned int bupc_thread_distance(int x, int y);

/* ---- Pointers ---- */

/* Where this thread loads and stores what ptr points to: NULL if it cannot, or ptr is null. */
void* bupc_cast(NCUPC_SHARED_CONST ptr);
/* Whether it can (a null pointer: yes), and whether it can with all shared memory of a thread. */
int bupc_castable(NCUPC_SHARED_CONST ptr);
int bupc_thread_castable(unsigned int thread);
/* The pointer to shared to what `ptr` is the address of, phase 0; null if that is no shared memory.
 */
NCUPC_SHARED bupc_inverse_cast(void* ptr);
/* The pointer to the place of `thread` that has the address `ptr` at this one, with a phase. `ptr`
 * is in this thread's shared memory. */
NCUPC_SHARED bupc_local_to_shared(void* ptr, int thread, int phase);
/* `elements` on in an array of elements of `size` bytes in blocks of `block`, which need not be
 * constants. */
NCUPC_SHARED bupc_ptradd(NCUPC_SHARED p, size_t block, size_t size, ptrdiff_t elements);

/* A description of ptr in at most `size` characters, 0 at its end included. Returns 0; -1 and
 * EINVAL if size is less than BUPC_DUMP_MIN_LENGTH. */
#define BUPC_DUMP_MIN_LENGTH 100
int bupc_dump_shared(NCUPC_SHARED_CONST ptr, char* text, int size);
#define UPC_DUMP_MIN_LENGTH BUPC_DUMP_MIN_LENGTH
#define upc_dump_shared(ptr, text, size) bupc_dump_shared((ptr), (text), (size))

/* ---- Surroundings: the environment of each thread, and traces, of which there are none. ---- */

char* bupc_getenv(const char* name);
#define bupc_trace_printf(parenthesised) ((void)0)
void bupc_trace_setmask(const char* mask);
void bupc_stats_setmask(const char* mask);
const char* bupc_trace_getmask(void);
const char* bupc_stats_getmask(void);
void bupc_trace_settracelocal(int on);
int bupc_trace_gettracelocal(void);

#endif
