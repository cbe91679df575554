// Do misses come back? Answered for the tuner from a sample of keys, such that a scan cannot
// mislead it.
//
// The sketch cannot tell: it is as small as the index, so a cycle longer than its memory seems new
// and a scan that fills it seems to return. Here keys chosen by their hash are remembered by 32
// bits of it until another of them takes their slot (spatial sampling, as Waldspurger et al., FAST
// 2015). All keys at first, so that a short run's first repeats are seen; a smaller share as more
// come, down to one in 128: 1,024 slots then look back on some 100,000 keys.
#pragma once

#include <cstdint>

namespace nearcache {

class Ghosts {
 public:
  // One miss; returns of how many misses of returning keys it is a sign.
  uint32_t missed(uint64_t hash) {
    const uint64_t mixed = hash * 0xd1342543de82ef95u;
    if (mixed > UINT64_MAX >> sample_bits_) return 0;
    const uint32_t name = static_cast<uint32_t>(hash) | 1;  // 0: empty
    uint32_t& slot = names_[mixed >> slot_shift & (slots - 1)];
    if (slot == name) return uint32_t{1} << sample_bits_;
    slot = name;
    if (sample_bits_ < most_sample_bits && ++names_kept_ > slots / 2) {
      ++sample_bits_;
      names_kept_ /= 2;
    }
    return 0;
  }
  void clear() { *this = Ghosts(); }

 private:
  static constexpr uint32_t most_sample_bits = 7;
  static constexpr uint32_t slots = 1024;
  // below the bits that choose the sample
  static constexpr uint32_t slot_shift = 64 - most_sample_bits - 10;
  uint32_t sample_bits_ = 0;
  uint32_t names_kept_ = 0;
  uint32_t names_[slots] = {};
};

}  // namespace nearcache
