// SPDX-License-Identifier: BSD-3-Clause

// Option shmem_check: does the program keep the contract (docs/semantics-openshmem.md)? Every get
// served from the cache is fetched again at once and compared. A difference is reported together
// with the call that should have been an acquire. If a program keeps the contract, nobody writes
// what another PE reads between two acquires of the reader, so there is never a difference.
//
// A word polled by gets may change between two of them, and the contract allows the program to see
// that late. So a stale word is reported only if the thread goes on with it; if it requests the
// same word again, it was polling. What it learned then is remembered as the likely cause of stale
// data later.
//
// This PE's own bytes that are not yet written back, or in flight, are its latest values and are
// not compared.
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
  static constexpr uint64_t most_told = 20;  // messages per process; further ones are only counted

  void start() { on_ = true; }
  bool on() const { return on_; }

  // Which lines of a range the cache holds; created before the get.
  class Kept {
   public:
    Kept(const PageCache& cache, int pe, uint64_t address, size_t bytes, size_t line);
    bool any() const { return any_; }
    bool has(size_t at) const { return lines_[(first_ + at) / line_]; }

   private:
    size_t line_, first_;  // bytes per line; bytes of the first line that precede the range
    std::vector<bool> lines_;
    bool any_ = false;
  };
  // Called after the get, before the channel's lock is released.
  void compare(Channel* channel, const Kept& kept, int pe, uint64_t address, const void* served,
               size_t bytes);

  // This thread gets a range, cached or not. Called before compare().
  void getting(int pe, uint64_t address, size_t bytes);
  // This thread makes a call that is no acquire. `tells`: the call may tell it of others' writes
  // all the same; of a word of `pe`, unless that is negative.
  void called(const char* call, bool tells, int pe = -1, uint64_t address = 0);
  // A thread ends. `suspected` describes the stale data it was served last; empty if there was
  // none.
  void thread_ends(const std::string& suspected);
  // Logs how many hits were compared and how many of them were stale.
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
