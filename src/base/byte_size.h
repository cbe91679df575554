// SPDX-License-Identifier: BSD-3-Clause

// Parses byte sizes as users write them: 4096, 64k, 1.5M, 512MiB. Needs only the C library, because
// the UPC runtime is linked without the C++ library; text.h has the other parsers.
#pragma once

#include <cstdint>
#include <cstring>

namespace nearcache {

namespace byte_size {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Returns the factor that a suffix stands for, or 0 if it is not a suffix. Suffixes are k, m, g and
// t (powers of 1024), optionally followed by `b` or `ib`; `b` and `ib` may also stand alone.
inline uint64_t factor_of(const char* at, const char* end) {
  static constexpr char units[] = "kmgt";
  int power = 0;
  if (at != end) {
    const char first = lower(*at);
    const char* unit = first != 0 ? std::strchr(units, first) : nullptr;
    if (unit != nullptr) {
      power = static_cast<int>(unit - units) + 1;
      ++at;
    }
  }
  if (end - at == 2 && lower(at[0]) == 'i') ++at;
  if (end - at == 1 && lower(at[0]) == 'b') ++at;
  return at == end ? uint64_t{1} << (10 * power) : 0;
}

}  // namespace byte_size

// Returns false and leaves `value` unchanged if the text is malformed, or if the size is 2^63 or
// more and not a plain 64-bit number. The decimal point is a point in every locale.
inline bool parse_byte_size(const char* at, const char* end, uint64_t* value) {
  using byte_size::is_digit;
  uint64_t whole = 0;
  double number = 0;
  bool exact = true;  // `whole` holds the exact number
  bool digits = false;
  for (; at != end && is_digit(*at); ++at, digits = true) {
    const auto digit = static_cast<uint64_t>(*at - '0');
    exact = exact && whole <= (UINT64_MAX - digit) / 10;
    whole = whole * 10 + digit;
    number = number * 10 + static_cast<double>(digit);
  }
  if (at != end && *at == '.') {
    exact = false;
    double weight = 0.1;
    for (++at; at != end && is_digit(*at); ++at, weight /= 10, digits = true)
      number += weight * (*at - '0');
  }
  if (!digits) return false;
  if (end - at >= 2 && byte_size::lower(*at) == 'e' &&
      (is_digit(at[1]) || (end - at >= 3 && (at[1] == '-' || at[1] == '+') && is_digit(at[2])))) {
    exact = false;
    const bool small = at[1] == '-';
    at += is_digit(at[1]) ? 1 : 2;
    int exponent = 0;
    for (; at != end && is_digit(*at); ++at)
      if (exponent < 400) exponent = exponent * 10 + (*at - '0');
    for (; exponent > 0; --exponent) number = small ? number / 10 : number * 10;
  }
  const uint64_t factor = byte_size::factor_of(at, end);
  if (factor == 0) return false;
  constexpr uint64_t limit = uint64_t{1} << 63;
  if (exact && (factor == 1 || whole < limit / factor)) {
    *value = whole * factor;
    return true;
  }
  const double scaled = number * static_cast<double>(factor);
  if (!(scaled < static_cast<double>(limit))) return false;
  *value = static_cast<uint64_t>(scaled + 0.5);
  return true;
}

}  // namespace nearcache
