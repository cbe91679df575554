// SPDX-License-Identifier: BSD-3-Clause

// The common base of the UPC runtime's parts: words that threads poll and change atomically,
// transfers, completion.
//
// Words have 64 bits, because only 64-bit compare-and-swap, swap, fetch_add, set and fetch of the
// library below are reliable everywhere. If all threads can reach each other by loads and stores,
// words are changed by the processor's atomics, otherwise always by the library's: on some networks
// the two are not atomic with respect to each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearcache/upc_runtime.h"
#include "upc/arena.h"
#include "upc/runtime.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

void set_threads(int threads, int me);

// ---- Words. `offset` is that of an aligned 64-bit word in the arena of `thread`. All functions
// but word_set() return the old value. None orders other accesses: call release() before or
// acquire() after if that is needed.
uint64_t word_fetch(size_t thread, uint64_t offset);
void word_set(size_t thread, uint64_t offset, uint64_t value);
// Like word_set(), but not atomic: nobody may change the word by compare-and-swap, swap or
// fetch_add. Only for words of Control, which are uncached. The value arrives some time later; only
// shmem_fence orders it.
void word_put(size_t thread, uint64_t offset, uint64_t value);
uint64_t word_swap(size_t thread, uint64_t offset, uint64_t value);
uint64_t word_compare_swap(size_t thread, uint64_t offset, uint64_t expected, uint64_t value);
uint64_t word_fetch_add(size_t thread, uint64_t offset, uint64_t value);

// Loads a word of this thread. Others change it by the functions above.
inline uint64_t own_word(uint64_t offset) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(runtime.arena + offset),
                         __ATOMIC_ACQUIRE);
}

// For waiting on own words: `Waiter waiter; while (own_word(o) != x) waiter.pause();`. Lets the
// library progress other threads' traffic, and yields the processor now and then.
class Waiter {
 public:
  void pause();

 private:
  unsigned looks_ = 0;
};

// A Waiter for use within a collective operation whose start this thread has counted
// (runtime.collective_calls): ends the program with an error if another thread has ended without
// taking part.
class CollectiveWaiter {
 public:
  void pause();

 private:
  Waiter waiter_;
};

// Lets the library serve other threads' requests to this one.
void progress();

// ---- Completion. release() completes everything that this thread has written. After acquire()
// nothing that it has read before is served from the cache.
inline void release() { ncupc_before_strict(); }
// `call` is the name for reports, a text that is never freed.
void drop(const char* call);
inline void acquire(const char* call) {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (ncupc_caching) drop(call);
}

// ---- Transfers: relaxed, ordered for the same memory; by memcpy if the thread is within reach.
void read_bytes(void* to, ncupc_ptr from, size_t bytes);
void write_bytes(ncupc_ptr to, const void* from, size_t bytes);
// Call these before this thread reads or writes memory of a far thread by other means than the
// functions here (an atomic, a non-blocking get): they complete, or order, its earlier writes
// there. With the cache on, the cache takes care of that. A null pointer is an error.
void before_far_read(size_t thread, uint64_t offset, size_t bytes);
void before_far_write(size_t thread, uint64_t offset, size_t bytes);

// A barrier for the runtime's own use, independent of the program's: returns the maximum of the
// threads' contributions. Releases and acquires.
uint64_t internal_barrier(uint64_t contribution);

}  // namespace nearcache::upc
#pragma GCC visibility pop
