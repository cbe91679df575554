// Option shmem_check: does the program keep the contract (docs/semantics-openshmem.md)? Every get
// that is served from the cache is fetched again at once and compared. A difference is reported
// with the call that should have been an acquire: in a program that keeps the contract nobody
// writes to what another PE reads between two acquires of the reader, so there is none.
//
// A word that is polled by gets may change between two of them, and the contract allows it to be
// seen late. So an old word is reported only if the thread moves on with it: if it requests the
// same word again it was polling. What it learned then is remembered, as the likely cause of stale
// data later.
//
// Own bytes that are not written back, or in flight, are this PE's latest values, and are not
// compared.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cache/page/page_cache.h"

namespace nearcache::shmem {

class Channel;

class HitCheck {
 public:
  static constexpr uint64_t most_told = 20;  // of one process: more are counted

  void start() { on_ = true; }
  bool on() const { return on_; }

  // What the cache has of a range, by lines; made before the get.
  class Kept {
   public:
    Kept(const PageCache& cache, int pe, uint64_t address, size_t bytes, size_t line);
    bool any() const { return any_; }
    bool has(size_t at) const { return lines_[(first_ + at) / line_]; }

   private:
    size_t line_, first_;  // bytes of a line; of the first, before the range
    std::vector<bool> lines_;
    bool any_ = false;
  };
  // After it, before the channel's lock is given back.
  void compare(Channel* channel, const Kept& kept, int pe, uint64_t address, const void* served,
               size_t bytes);

  // This thread gets a range, by whichever way; before compare().
  void getting(int pe, uint64_t address, size_t bytes);
  // This thread makes a call that is no acquire. `tells`: it may learn of others' writes by it all
  // the same, of a word of `pe` if that is not below 0.
  void called(const char* call, bool tells, int pe = -1, uint64_t address = 0);
  // A thread ends that was served `suspected` last; empty: nothing that was old.
  void thread_ends(const std::string& suspected);
  // Says how many hits were compared, and how many of them were old.
  void finish(int pe);

  uint64_t compared() const { return compared_.load(std::memory_order_relaxed); }
  uint64_t old() const { return old_.load(std::memory_order_relaxed); }

 private:
  void settle();
  void count(const std::string& text);

  bool on_ = false;
  std::atomic<uint64_t> compared_{0}, old_{0};
};

}  // namespace nearcache::shmem
