// SPDX-License-Identifier: BSD-3-Clause

// Detects that the program reads a few words over and over, as it does while it waits for another
// PE to change them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nearcache {

// Is told of reads, and asks for an inspection every reads_a_look of them. A hit costs an
// increment, a shift and an OR.
class PollDetector {
 public:
  // Odd, so that if several words are polled in turn, each is the inspected one at times, however
  // it is read: quickly, slowly or from the network. For that reason all reads count.
  static constexpr uint32_t reads_a_look = 47;
  // Hits on no more than this many different words between two inspections count as polling.
  static constexpr int polled_words = 4;
  // Misses in between do not matter, as long as at least one read in this many is a hit.
  static constexpr uint32_t reads_a_hit = 3;

  // Called when a hit at `address` is about to be served on the fast path. Returns true if it must
  // not be, since an inspection is due.
  bool quick_hit(uint64_t address) {
    words_ |= bit_of(address);
    return ++reads_ >= reads_a_look;
  }
  // Like quick_hit(), for callers that can inspect at once: returns true if the hit must not be
  // served because the program is polling.
  [[gnu::always_inline]] bool quick_hit_polls(uint64_t address) {
    return quick_hit(address) && look_polls();
  }
  // Called when a read that is not a fast hit begins. Returns true if this read is to be inspected;
  // it is then not reported to slow_hit() or miss().
  bool time_to_look() const { return reads_ + 1 >= reads_a_look; }
  void slow_hit(uint64_t address) {
    words_ |= bit_of(address);
    ++reads_;
    ++slow_;
  }
  void miss() {
    ++reads_;
    ++misses_;
  }
  // Returns true if the reads since the last inspection include enough hits, on a few words.
  bool polling() const { return (served() - misses_) * reads_a_hit >= served() && few(words_); }
  // Like polling(), and starts counting anew.
  bool look() {
    const bool was_polling = polling();
    quick_ += quick_since_look();
    reads_ = slow_ = misses_ = 0;
    words_ = 0;
    return was_polling;
  }
  // Returns the number of hits served on the fast path, without those held back for an inspection.
  uint64_t quick_hits() const { return quick_ + quick_since_look(); }

 private:
  [[gnu::noinline]] bool look_polls() {
    if (polling()) return true;
    look();
    ++quick_;
    return false;
  }
  static uint64_t bit_of(uint64_t address) {
    return uint64_t{1} << (((address >> 3) ^ (address >> 12)) & 63);
  }
  // Returns true if at most polled_words bits are set. Cheaper than counting them if the processor
  // has no instruction for that.
  static bool few(uint64_t words) {
    for (int i = 0; i < polled_words; ++i) words &= words - 1;
    return words == 0;
  }
  uint32_t served() const { return std::min(reads_, reads_a_look - 1); }
  uint64_t quick_since_look() const { return served() - slow_ - misses_; }

  // reads since the last inspection; among them, hits served slowly and misses
  uint32_t reads_ = 0, slow_ = 0, misses_ = 0;
  uint64_t words_ = 0;  // hashed words of the hits
  uint64_t quick_ = 0;  // fast hits before the last inspection
};

}  // namespace nearcache
