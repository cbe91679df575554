// Do misses come back? Answered for the tuner from a sample of keys, without a mistake that a scan could provoke.
//
// The sketch cannot tell: it is as small as the index, so a cycle longer than its memory seems new and a scan that fills
// it seems to return. Here one key in 128, chosen by its hash, is remembered by 32 bits of it until another sampled key
// takes its slot: 1,024 slots look back on some 100,000 keys (spatial sampling, as Waldspurger et al., FAST 2015).
#pragma once

#include <cstdint>
#include <cstring>

namespace nearcache {

class Ghosts {
 public:
  // One miss; returns of how many misses of returning keys it is a sign.
  uint32_t missed(uint64_t hash) {
    const uint64_t mixed = hash * 0xd1342543de82ef95u;
    if (mixed >> (64 - sample_bits) != 0) return 0;
    const uint32_t name = static_cast<uint32_t>(hash) | 1;  // 0: empty
    uint32_t& slot = names_[mixed >> (64 - sample_bits - slot_bits) & (slots - 1)];
    if (slot == name) return 1 << sample_bits;
    slot = name;
    return 0;
  }
  void clear() { std::memset(names_, 0, sizeof names_); }

 private:
  static constexpr int sample_bits = 7;
  static constexpr int slot_bits = 10;
  static constexpr uint32_t slots = 1 << slot_bits;
  uint32_t names_[slots] = {};
};

}  // namespace nearcache
