// SPDX-License-Identifier: BSD-3-Clause

// The functions that the generated entry points (generate_entry_points.py) call: the actions of
// docs/semantics-openshmem.md, "The contract".
//
// Every entry point begins with `if (!active()) return next.<call>(...)`: calls go straight to the
// library if the cache is switched off, or if the OpenSHMEM library itself makes them inside one of
// our calls (a contended lock reads its word through the public symbols).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cache/page/page_cache.h"
#include "shmem/near_heap.h"
#include "shmem/shmem_api.h"

// so that flags and the cache are reached without the global offset table
#pragma GCC visibility push(hidden)
namespace nearcache::shmem {

// The two flags that active() tests.
// OpenSHMEM is initialised, and the cache is on.
extern bool enabled;
// > 0 during a call of the library below.
extern constinit thread_local int inside;

// The calling thread orders its accesses itself: its atomics, non-blocking gets and tests are no
// acquires (nearcache_shmem_set_unordered).
extern constinit thread_local bool unordered;

// The name of this thread's current call, for reports about acquires.
extern constinit thread_local const char* calling;

inline bool active() {
  return __builtin_expect(static_cast<int>(enabled) & static_cast<int>(inside == 0), 1);
}

// While an object of this class lives, calls that the library below makes through public symbols
// pass straight through.
class Inside {
 public:
  Inside() { ++inside; }
  ~Inside() { --inside; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

// The cache of the default context if it may be used without a lock, else one that serves nothing;
// never null.
extern PageCache* quick_cache;

// The default context's cache if threads share it: everything but hits needs the channel's lock.
struct SharedCache {
  std::atomic<PageCache*> cache{nullptr};  // null: there is none, or its hits need the lock, too
  // The process's ordering calls, and how many of them this cache has seen. There are no hits until
  // it has seen all.
  std::atomic<uint64_t> orderings{0}, seen{0};
};
extern constinit SharedCache shared;
extern constinit thread_local PageReader page_reader;

// Returns true if the shared cache served the read.
__attribute__((always_inline)) inline bool shared_hit(void* to, const void* from, size_t bytes,
                                                      int pe) {
  PageCache* cache = shared.cache.load(std::memory_order_acquire);
  return cache != nullptr &&
         shared.orderings.load(std::memory_order_acquire) ==
             shared.seen.load(std::memory_order_acquire) &&
         cache->hit_unlocked(page_reader, pe, reinterpret_cast<uint64_t>(from), to, bytes);
}

// No cache has been created in this process, which has one thread, and nothing else needs to see
// its calls. Then nothing is dirty, and an acquire has nothing to drop.
extern bool nothing_cached;

// Closed unless nothing is cached.
extern NearHeap near_heap;

// Transfers. `ctx` is the handle that the program passed.
void get_slowly(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe);
void put_slowly(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe);
inline void get(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  get_slowly(ctx, to, from, bytes, pe);
}
inline void put(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  put_slowly(ctx, to, from, bytes, pe);
}
__attribute__((noinline)) void get_not_quickly(void* to, const void* from, size_t bytes, int pe);
__attribute__((noinline)) void put_not_quickly(void* to, const void* from, size_t bytes, int pe);
inline void get(void* to, const void* from, size_t bytes, int pe) {
  if (bytes == 0 || !quick_cache->hit(pe, reinterpret_cast<uint64_t>(from), to, bytes))
    get_not_quickly(to, from, bytes, pe);
}
inline void put(void* to, const void* from, size_t bytes, int pe) {
  if (bytes == 0 || !quick_cache->put_quickly(pe, reinterpret_cast<uint64_t>(to), from, bytes))
    put_not_quickly(to, from, bytes, pe);
}
// One element. Misses are handled out of line, so that a hit needs no stack frame.
template <typename T>
__attribute__((noinline)) T get_element_slowly(const T* from, int pe) {
  T value;
  get_slowly(SHMEM_CTX_DEFAULT, &value, from, sizeof value, pe);
  return value;
}
template <typename T>
__attribute__((noinline)) T get_element_shared(const T* from, int pe) {
  T value;
  if (near_heap.get(&value, from, sizeof value, pe)) return value;
  if (shared_hit(&value, from, sizeof value, pe)) return value;
  return get_element_slowly(from, pe);
}
template <typename T>
inline T get_element(const T* from, int pe) {
  T value;
  if (quick_cache->hit(pe, reinterpret_cast<uint64_t>(from), &value, sizeof value)) return value;
  return get_element_shared(from, pe);
}
template <typename T>
__attribute__((noinline)) void put_element_slowly(T* to, T value, int pe) {
  put_slowly(SHMEM_CTX_DEFAULT, to, &value, sizeof value, pe);
}
// Out of line as a whole, because the cache needs the value's address: so a stack frame is set up
// only where it is needed. The fast path calls nothing.
template <typename T>
__attribute__((noinline, flatten)) void put_element(T* to, T value, int pe) {
  if (!quick_cache->put_quickly(pe, reinterpret_cast<uint64_t>(to), &value, sizeof value) &&
      !near_heap.put(to, &value, sizeof value, pe))
    put_element_slowly(to, value, pe);
}
// Non-blocking transfers: return true if served; otherwise the caller passes them on, within an
// `Inside`.
bool get_nbi(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe);
bool put_nbi(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe);

class Channel;

// Guards around a call that is passed on: the constructor runs before it, the destructor after.
// Each holds an `Inside`, and the context's lock if it has one.
class DirectCall {  // the common part of the classes below
 public:
  enum class Kind {
    get,
    update,
    fetch
  };  // fetch: an update that is complete when the call returns
  DirectCall(shmem_ctx_t ctx, Kind kind, const void* object, size_t bytes, int pe);
  ~DirectCall();
  DirectCall(const DirectCall&) = delete;
  DirectCall& operator=(const DirectCall&) = delete;
  // null if the library must report an error, or nothing is to be done
  Channel* channel() const { return channel_; }
  void hold(Channel* channel);  // takes the channel's lock unless it is held
  void let_go();                // releases the lock after the library's call has returned
  int pe() const { return pe_; }
  size_t bytes() const { return bytes_; }

 private:
  Channel* channel_ = nullptr;
  Channel* held_ = nullptr;  // the channel whose lock is held
  size_t bytes_;
  int pe_;
};
class DirectGet {  // iget and the like; [from, from + bytes) covers everything read
 public:
  DirectGet(shmem_ctx_t ctx, const void* from, size_t bytes, int pe);
  ~DirectGet();

 private:
  DirectCall call_;
};
class DirectUpdate {  // iput, non-fetching atomics: parts of [to, to + bytes) are written
 public:
  DirectUpdate(shmem_ctx_t ctx, const void* to, size_t bytes, int pe);
  ~DirectUpdate();

 private:
  DirectCall call_;
};
// Like DirectUpdate, followed by an acquire unless atomics are relaxed or the thread orders its
// accesses itself. Then other contexts drop what was changed; if the context is not known, they
// cannot be told which PE's memory that is, and the acquire remains.
class FetchingAtomic {
 public:
  FetchingAtomic(shmem_ctx_t ctx, const void* target, size_t bytes, int pe);
  ~FetchingAtomic();

 private:
  DirectCall call_;
  const void* target_;
  bool known_;  // the context
};
// Non-blocking fetching atomics (1.5): like FetchingAtomic, but the acquire is the context's next
// quiet.
class FetchingNbi {
 public:
  FetchingNbi(shmem_ctx_t ctx, const void* target, size_t bytes, int pe);
  ~FetchingNbi();

 private:
  DirectCall call_;
};
class PutSignal {  // put_signal(_nbi): data and signal both bypass the cache
 public:
  PutSignal(shmem_ctx_t ctx, const void* to, size_t bytes, const void* signal, int pe);
  ~PutSignal();

 private:
  DirectCall call_;
};

// The address of the lowest element of a strided access: the last one if the stride is negative.
inline const void* strided_begin(const void* first, size_t element, ptrdiff_t stride,
                                 size_t count) {
  if (stride >= 0 || count == 0) return first;
  return static_cast<const char*>(first) - element * static_cast<size_t>(-stride) * (count - 1);
}
// The bytes from there to the end of the highest element of `count` blocks of `block` elements,
// whose starts are `stride` elements apart.
inline size_t strided_bytes(size_t element, ptrdiff_t stride, size_t count, size_t block = 1) {
  if (count == 0 || block == 0) return 0;
  return element * (static_cast<size_t>(stride < 0 ? -stride : stride) * (count - 1) + block);
}

// Ordering.
void quiet(shmem_ctx_t ctx);
void fence(shmem_ctx_t ctx);

// A call that may block until another PE acts (wait_until, set_lock, sync, collectives): starts
// write-back before it; an acquire follows.
class Wait {
 public:
  Wait();
  ~Wait();
};
// A call that only tests (test, test_lock): starts write-back before it; an acquire follows if
// succeeded() was called.
class Test {
 public:
  Test();
  ~Test();
  void succeeded() { succeeded_ = true; }

 private:
  bool succeeded_ = false;
};
// barrier, barrier_all: completes everything written through the default context before it; an
// acquire follows.
class Barrier {
 public:
  Barrier();
  ~Barrier();
};
// clear_lock, malloc and the like: completes everything written through the default context before
// it; an acquire follows if `synchronises`.
class Release {
 public:
  explicit Release(bool synchronises);
  ~Release();

 private:
  bool synchronises_;
};

// A call that no row of the table names may do anything. Completes everything written through any
// context before it. An acquire follows, and another after the next quiet of each context, because
// the call may have started operations that are still outstanding.
class Unknown {
 public:
  Unknown();
  ~Unknown();
};

// Entry points for memory management (entry_memory.cpp), setup (entry_process.cpp) and contexts
// (entry_context.cpp) are written by hand and marked `own` in the table; the generator only
// declares and exports them.

}  // namespace nearcache::shmem
#pragma GCC visibility pop
