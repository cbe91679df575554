// SPDX-License-Identifier: BSD-3-Clause

// One bit for every byte of a page, telling which bytes were written.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace nearcache {

// A view of `words` words, each with the bits of 64 bytes. All words outside [low, high) are known
// to be zero: most puts write a few bytes of a page, and examining the other words would cost more
// than the put. Positions are bytes from the beginning of the page.
class ByteMask {
 public:
  ByteMask(uint64_t* bits, size_t words, size_t low, size_t high)
      : bits_(bits), words_(words), low_(low), high_(high) {}

  uint64_t word(size_t i) const { return bits_[i]; }
  size_t low() const { return low_; }
  size_t high() const { return high_; }
  bool empty() const {
    for (size_t i = low_; i < high_; ++i)
      if (bits_[i] != 0) return false;
    return true;
  }
  void clear_all() {
    for (size_t i = low_; i < high_; ++i) bits_[i] = 0;
  }
  bool test(size_t at) const { return (bits_[at / 64] >> (at % 64) & 1) != 0; }
  void set(size_t begin, size_t end) {
    each_word(begin, end, [&](uint64_t& word, uint64_t mask) { word |= mask; });
  }
  void clear(size_t begin, size_t end) {
    each_word(begin, end, [&](uint64_t& word, uint64_t mask) { word &= ~mask; });
  }
  bool any(size_t begin, size_t end) const {
    uint64_t found = 0;
    each_word(begin, end, [&](uint64_t& word, uint64_t mask) { found |= word & mask; });
    return found != 0;
  }

  // Returns the first set position at or after `at`, or the size of the mask if there is none.
  size_t next_set(size_t at) const {
    for (size_t i = at / 64 > low_ ? at / 64 : low_; i < high_; ++i) {
      uint64_t word = bits_[i];
      if (i == at / 64) word &= ~uint64_t{0} << (at % 64);
      if (word != 0) return i * 64 + static_cast<size_t>(std::countr_zero(word));
    }
    return words_ * 64;
  }
  // Returns the first unset position at or after `at`, or the size of the mask if there is none.
  size_t next_unset(size_t at) const {
    for (size_t i = at / 64; i < words_; ++i) {
      uint64_t word = ~bits_[i];
      if (i == at / 64) word &= ~uint64_t{0} << (at % 64);
      if (word != 0) return i * 64 + static_cast<size_t>(std::countr_zero(word));
    }
    return words_ * 64;
  }
  // Returns where the run of set positions that ends just before `at` begins; `at` if there is
  // none.
  size_t run_begin(size_t at) const {
    while (at > 0) {
      const size_t last = at - 1;
      // Shift byte `last` to the top of its word: the leading ones are the run's bytes in this
      // word.
      const size_t in_word = last % 64 + 1;
      const size_t ones = static_cast<size_t>(std::countl_one(bits_[last / 64] << (64 - in_word)));
      if (ones < in_word) return at - ones;
      at -= in_word;
    }
    return 0;
  }

 private:
  // Returns a word with the bits [begin, end) set; begin < 64.
  static uint64_t bits_between(size_t begin, size_t end) {
    const uint64_t upto = end >= 64 ? ~uint64_t{0} : (uint64_t{1} << end) - 1;
    return upto & (~uint64_t{0} << begin);
  }
  template <class Action>
  void each_word(size_t begin, size_t end, Action action) const {
    if (begin >= end) return;
    const size_t first = begin / 64, last = (end - 1) / 64;
    for (size_t i = first; i <= last; ++i)
      action(bits_[i], bits_between(i == first ? begin % 64 : 0, i == last ? end - last * 64 : 64));
  }

  uint64_t* bits_;
  size_t words_, low_, high_;
};

}  // namespace nearcache
