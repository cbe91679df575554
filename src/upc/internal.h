// What the parts of the UPC runtime share: words that threads poll and change atomically,
// transfers, completion.
//
// Words are 64 bits: only 64-bit compare-and-swap, swap, fetch_add, set and fetch of the library
// underneath are sound everywhere. Where all threads are within reach of each other words are
// changed by the processor's own atomics, else always by the library's: the two are not atomic to
// each other on every network.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearcache/upc_runtime.h"
#include "upc/arena.h"
#include "upc/runtime.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

void set_threads(int threads, int me);

// ---- Words: `offset` is that of an aligned 64-bit word in the arena of `thread`. All but `set`
// return the word as it was. None orders other accesses: call release() before, acquire() after,
// where that is wanted.
uint64_t word_fetch(size_t thread, uint64_t offset);
void word_set(size_t thread, uint64_t offset, uint64_t value);
// The same without atomicity: nobody changes the word by compare-and-swap, swap or fetch_add. Only
// for words of Control, which are uncached; arrives some time after, and in order only after
// shmem_fence.
void word_put(size_t thread, uint64_t offset, uint64_t value);
uint64_t word_swap(size_t thread, uint64_t offset, uint64_t value);
uint64_t word_compare_swap(size_t thread, uint64_t offset, uint64_t expected, uint64_t value);
uint64_t word_fetch_add(size_t thread, uint64_t offset, uint64_t value);

// This thread's own word, by load. Others change it by the functions above.
inline uint64_t own_word(uint64_t offset) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(runtime.arena + offset),
                         __ATOMIC_ACQUIRE);
}

// For waiting on own words: `Waiter waiter; while (own_word(o) != x) waiter.pause();`. Lets the
// library move other threads' traffic and gives up the processor now and then.
class Waiter {
 public:
  void pause();

 private:
  unsigned looks_ = 0;
};

// The same within a collective operation of which this thread has counted the start
// (runtime.collective_calls): ends the program with an error if another thread has ended without
// it.
class CollectiveWaiter {
 public:
  void pause();

 private:
  Waiter waiter_;
};

// Lets the library work on what other threads ask of this one.
void progress();

// ---- Completion. release: everything this thread has written is complete. acquire: nothing it has
// read is served after.
inline void release() { ncupc_before_strict(); }
// `call`, a text that is never freed, is what a report says it was.
void drop(const char* call);
inline void acquire(const char* call) {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (ncupc_caching) drop(call);
}

// ---- Transfers: relaxed, ordered to the same memory, by memcpy where the thread is within reach.
void read_bytes(void* to, ncupc_ptr from, size_t bytes);
void write_bytes(ncupc_ptr to, const void* from, size_t bytes);
// Before this thread reads, or writes, memory of a far thread by other means than the functions
// here (an atomic, a non-blocking get): what it wrote there before is complete, or comes first.
// With the cache on, the cache does that by itself. A null pointer is an error.
void before_far_read(size_t thread, uint64_t offset, size_t bytes);
void before_far_write(size_t thread, uint64_t offset, size_t bytes);

// A barrier of the runtime's own, in between the program's: returns the greatest of what threads
// contribute. release and acquire.
uint64_t internal_barrier(uint64_t contribution);

}  // namespace nearcache::upc
#pragma GCC visibility pop
