#include "cache/sketch.h"

#include <algorithm>
#include <cstring>

namespace nearcache {

void Sketch::attach(void* memory, uint64_t capacity) {
  counters_.set(static_cast<uint8_t*>(memory));
  lines_ = 0;
  reset_capacity(capacity);
}

// The counts of another capacity would be found nowhere again: the sketch starts anew.
void Sketch::reset_capacity(uint64_t capacity) {
  const uint64_t before = bytes();
  std::memset(counters_.get(), 0, before);
  lines_ = lines_for(std::max<uint64_t>(capacity, 1));
  if (bytes() < before) Region::discard(counters_.get() + bytes(), before - bytes());
  // Four counters an entry and eight additions an entry before halving keep most estimates exact.
  period_ = static_cast<uint32_t>(std::min<uint64_t>(lines_ * 16 * 8, UINT32_MAX / 16));
  since_halving_ = remembered_ = 0;
}

uint32_t Sketch::count(uint64_t hash) const {
  const uint8_t* counters = line(hash);
  uint32_t least = UINT8_MAX;
  for (int i = 0; i < probes; ++i) least = std::min<uint32_t>(least, counters[probe(hash, i)]);
  return least;
}

void Sketch::add(uint64_t hash, uint32_t times) {
  const auto target = static_cast<uint8_t>(std::min<uint32_t>(count(hash) + times, UINT8_MAX));
  uint8_t* counters = line(hash);
  for (int i = 0; i < probes; ++i) counters[probe(hash, i)] = std::max(counters[probe(hash, i)], target);
}

void Sketch::halve() {
  uint8_t* counters = counters_.get();
  for (uint64_t i = 0; i < bytes(); ++i) counters[i] >>= 1;
  remembered_ = (since_halving_ + remembered_) / 2;
  since_halving_ = 0;
}

}  // namespace nearcache
