// Whether the program reads a few words over and over, as one does that waits for another PE to change them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nearcache {

// Counts what is served from the cache, and asks to be looked at every so often. A hit costs an increment, a shift and an OR.
class PollDetector {
 public:
  // An odd number, so that several addresses polled in turn take turns in being the one that is looked at.
  static constexpr uint32_t hits_a_look = 47;
  // Reads of so few different words in a row are polling.
  static constexpr int polled_words = 4;

  // A hit at `address` is about to be served quickly. True if it must not be: it is time to look.
  bool quick_hit(uint64_t address) {
    words_ |= bit_of(address);
    return ++quick_ >= hits_a_look;
  }
  void slow_hit(uint64_t address) {
    words_ |= bit_of(address);
    ++slow_;
  }
  bool time_to_look() const { return quick_ + slow_ >= hits_a_look; }
  // Whether all hits since the last look were of a few words. Begins anew.
  bool look() {
    const bool polling = few(words_);
    served_ += served_since_look();
    quick_ = slow_ = 0;
    words_ = 0;
    return polling;
  }
  // Hits served quickly so far: not the one that was kept back for a look.
  uint64_t quick_hits() const { return served_ + served_since_look(); }

 private:
  static uint64_t bit_of(uint64_t address) { return uint64_t{1} << (((address >> 3) ^ (address >> 12)) & 63); }
  // Whether no more than polled_words bits are set: cheaper than to count them where the processor has no instruction for that.
  static bool few(uint64_t words) {
    for (int i = 0; i < polled_words; ++i) words &= words - 1;
    return words == 0;
  }
  uint64_t served_since_look() const { return std::min(quick_, hits_a_look - 1); }

  uint32_t quick_ = 0, slow_ = 0;  // since the last look
  uint64_t words_ = 0;             // of these hits, by hash
  uint64_t served_ = 0;            // quickly, before the last look
};

}  // namespace nearcache
