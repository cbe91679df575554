// SPDX-License-Identifier: BSD-3-Clause

// Tells the tuner whether missed keys are requested again. Uses a sample of keys, so that a scan
// cannot mislead it.
//
// The sketch cannot tell: it is as small as the index, so a cycle longer than its memory looks new,
// and a scan that fills it looks like a repeat. Here, keys are selected by their hash and
// remembered by 32 bits of it until another selected key takes their slot (spatial sampling, as in
// Waldspurger et al., FAST 2015). At first all keys are selected, so that the first repeats of a
// short run are seen; as more keys come the share falls to one in 128. The 1,024 slots then look
// back on some 100,000 keys.
#pragma once

#include <cstdint>

namespace nearcache {

class Ghosts {
 public:
  // Records a miss. Returns how many misses of returning keys it stands for.
  uint32_t missed(uint64_t hash) {
    const uint64_t mixed = hash * 0xd1342543de82ef95u;
    if (mixed > UINT64_MAX >> sample_bits_) return 0;
    const uint32_t name = static_cast<uint32_t>(hash) | 1;  // never 0, which is an empty slot
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
  // uses bits below those that select the sample
  static constexpr uint32_t slot_shift = 64 - most_sample_bits - 10;
  uint32_t sample_bits_ = 0;
  uint32_t names_kept_ = 0;
  uint32_t names_[slots] = {};
};

}  // namespace nearcache
