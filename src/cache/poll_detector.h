// Whether the program reads a few words over and over, as it does when it waits for another PE to
// change them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nearcache {

// Notes what is served from the cache, and asks to be looked at every so many reads. A hit costs an
// increment, a shift and an OR.
class PollDetector {
 public:
  // An odd number, so that several words polled in turn take turns in being the one that is looked
  // at, however each of them is read: quickly, slowly or from the network. So all reads count.
  static constexpr uint32_t reads_a_look = 47;
  // Reads of so few different words in a row are polling.
  static constexpr int polled_words = 4;
  // Or of others between them that are fetched, where at least one of so many reads is a hit.
  static constexpr uint32_t reads_a_hit = 3;

  // A hit at `address` is about to be served quickly. True if it must not be: it is time to look.
  bool quick_hit(uint64_t address) {
    words_ |= bit_of(address);
    return ++reads_ >= reads_a_look;
  }
  // The same where a look can be had at once: true if the hit must not be served, as the program
  // polls.
  [[gnu::always_inline]] bool quick_hit_polls(uint64_t address) {
    return quick_hit(address) && look_polls();
  }
  // A read that is no quick hit begins. It, too, may be the one to look at; then it is not told
  // below.
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
  // Whether the hits since the last look were many, and of a few words.
  bool polling() const { return (served() - misses_) * reads_a_hit >= served() && few(words_); }
  // The same, and begins anew.
  bool look() {
    const bool was_polling = polling();
    quick_ += quick_since_look();
    reads_ = slow_ = misses_ = 0;
    words_ = 0;
    return was_polling;
  }
  // Hits served quickly so far: not the one that was kept back for a look.
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
  // Whether no more than polled_words bits are set: cheaper than to count them where the processor
  // has no instruction for that.
  static bool few(uint64_t words) {
    for (int i = 0; i < polled_words; ++i) words &= words - 1;
    return words == 0;
  }
  uint32_t served() const { return std::min(reads_, reads_a_look - 1); }
  uint64_t quick_since_look() const { return served() - slow_ - misses_; }

  // since the last look; of these hits served slowly, and misses
  uint32_t reads_ = 0, slow_ = 0, misses_ = 0;
  uint64_t words_ = 0;  // of the hits, by hash
  uint64_t quick_ = 0;  // hits before the last look
};

}  // namespace nearcache
