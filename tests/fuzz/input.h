// Reads decisions from a fuzz input; returns zeros once the input is used up.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearcache::test {

class Input {
 public:
  Input(const uint8_t* bytes, size_t size) : at_(bytes), end_(bytes + size) {}
  bool empty() const { return at_ == end_; }
  uint32_t byte() { return empty() ? 0 : *at_++; }
  uint32_t below(uint32_t limit) {
    const uint32_t high = byte();
    return (high << 8 | byte()) % limit;
  }

 private:
  const uint8_t *at_, *end_;
};

}  // namespace nearcache::test
