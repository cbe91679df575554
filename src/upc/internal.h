// What the parts of the UPC runtime share: the arena, words that threads poll and change atomically, transfers, completion.
//
// Layout of the arena, the same in every PE:
//   [0, guard_bytes)              nothing: an access through a null pointer to shared, or a member of one, faults (guard.cpp)
//   [guard_bytes, control_bytes)  the words of the runtime's own protocols (Control), never cached
//   [control_bytes, heap_start)   static shared data
//   [heap_start, arena_bytes)     the heap: global blocks from its start up, local ones from its end down
//
// Words are 64 bits: only 64-bit compare-and-swap, swap, fetch_add, set and fetch of the library underneath are sound everywhere.
// Where all threads are within reach of each other words are changed by the processor's own atomics, else always by the library's: the
// two are not atomic to each other on every network.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearcache/upc_runtime.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

constexpr int barrier_rounds = 24;  // 2^24 threads

constexpr size_t guard_bytes = 4096;

struct Control {
  uint64_t unused[8];                   // always 0, for what only wants to call the library
  // Dissemination barriers, [instance][parity][round]: 0 the program's, 1 the runtime's own (collective allocation). See barrier.cpp.
  uint64_t barrier[2][2][barrier_rounds];
  uint64_t payload[2][barrier_rounds];  // of instance 1
  uint64_t heap;                        // the boundaries of the two ends of the heap. See heap.cpp
  uint64_t freed;                       // the list of blocks of this thread that others have freed
  uint64_t node;                        // the first thread within reach of this one
  uint64_t padding[5];
  uint64_t collectives[4096];           // for src/upc/collectives*: flags of theirs, all 0 at start
};
constexpr size_t control_bytes = guard_bytes + (sizeof(Control) + 4095) / 4096 * 4096;
#define NCUPC_CONTROL(member) (nearcache::upc::guard_bytes + offsetof(nearcache::upc::Control, member))

struct Runtime {
  char* arena = nullptr;    // this thread's; the symmetric address of the others'
  size_t arena_bytes = 0;
  size_t heap_start = 0;
  bool started = false;     // between the start and the end of the program
  bool ending = false;
  bool all_near = false;    // every thread is within reach of loads and stores of every other
  bool any_far = false;     // some thread is out of this thread's reach
  int looks_before_yield = 20;
  uint32_t collective_calls = 0;  // that this thread has begun: allocations, and those of upc_collective.h
};
extern Runtime runtime;

void set_threads(int threads, int me);

// ---- Words: `offset` is that of an aligned 64-bit word in the arena of `thread`. All but `set` return the word as it was. None orders
// other accesses: call release() before, acquire() after, where that is wanted.
uint64_t word_fetch(size_t thread, uint64_t offset);
void word_set(size_t thread, uint64_t offset, uint64_t value);
// The same without atomicity: nobody changes the word by compare-and-swap, swap or fetch_add. Only for words of Control, which are
// uncached; arrives some time after, and in order only after shmem_fence.
void word_put(size_t thread, uint64_t offset, uint64_t value);
uint64_t word_swap(size_t thread, uint64_t offset, uint64_t value);
uint64_t word_compare_swap(size_t thread, uint64_t offset, uint64_t expected, uint64_t value);
uint64_t word_fetch_add(size_t thread, uint64_t offset, uint64_t value);

// This thread's own word, by load. Others change it by the functions above.
inline uint64_t own_word(uint64_t offset) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(runtime.arena + offset), __ATOMIC_ACQUIRE);
}

// For waiting on own words: `Waiter waiter; while (own_word(o) != x) waiter.pause();`. Lets the library move other threads' traffic and
// gives up the processor now and then.
class Waiter {
 public:
  void pause();

 private:
  unsigned looks_ = 0;
};

// The same within a collective operation of which this thread has counted the start (runtime.collective_calls): ends the program with an
// error if another thread has ended without it.
class CollectiveWaiter {
 public:
  void pause();

 private:
  Waiter waiter_;
};

// Lets the library work on what other threads ask of this one.
void progress();

// ---- Completion. release: everything this thread has written is complete. acquire: nothing it has read is served after.
inline void release() { ncupc_before_strict(); }
inline void acquire() {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (ncupc_caching) ncupc_drop();
}

// ---- Transfers: relaxed, ordered to the same memory, by memcpy where the thread is within reach.
void read_bytes(void* to, ncupc_ptr from, size_t bytes);
void write_bytes(ncupc_ptr to, const void* from, size_t bytes);
// Before this thread reads, or writes, memory of a far thread by other means than the functions here (an atomic, a non-blocking get):
// what it wrote there before is complete, or comes first. With the cache on, the cache does that by itself. A null pointer is an error.
void before_far_read(size_t thread, uint64_t offset, size_t bytes);
void before_far_write(size_t thread, uint64_t offset, size_t bytes);

// A barrier of the runtime's own, in between the program's: returns the greatest of what threads contribute. release and acquire.
uint64_t internal_barrier(uint64_t contribution);

// Collective end of the program: `action` runs once, after the last barrier, before shmem_finalize (contexts must be gone then).
void at_end(void (*action)());

}  // namespace nearcache::upc
#pragma GCC visibility pop
