// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/byte_size.h"

namespace nearcache {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool parse_ratio(std::string_view text, double* value) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) ||
      number < 0)
    return false;
  *value = number;
  return true;
}

bool parse_count(std::string_view text, uint64_t* value) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  *value = number;
  return true;
}

// Splits "64M" into a number, which may have a fraction, and its suffix.
static bool split_number(std::string_view text, double* number, std::string* suffix) {
  const std::string copy = lower_case(text);
  if (copy.empty() || (!std::isdigit(static_cast<unsigned char>(copy[0])) && copy[0] != '.'))
    return false;
  const auto [end, error] = std::from_chars(copy.data(), copy.data() + copy.size(), *number);
  *suffix = std::string(end, copy.data() + copy.size());
  return error == std::errc() && std::isfinite(*number);
}

static bool scale_to_whole(double number, double factor, uint64_t* value) {
  const double scaled = number * factor;
  if (scaled < 0 || scaled > 9.0e18) return false;
  *value = static_cast<uint64_t>(std::llround(scaled));
  return true;
}

bool parse_bytes(std::string_view text, uint64_t* value) {
  return parse_byte_size(text.data(), text.data() + text.size(), value);
}

bool parse_time_ns(std::string_view text, uint64_t* value) {
  double number;
  std::string suffix;
  if (!split_number(text, &number, &suffix)) return false;
  if (suffix.empty() || suffix == "ns") return scale_to_whole(number, 1, value);
  if (suffix == "us") return scale_to_whole(number, 1e3, value);
  if (suffix == "ms") return scale_to_whole(number, 1e6, value);
  if (suffix == "s") return scale_to_whole(number, 1e9, value);
  return false;
}

bool parse_bool(std::string_view text, bool* value) {
  const std::string word = lower_case(text);
  if (word == "1" || word == "true" || word == "yes" || word == "on") return *value = true, true;
  if (word == "0" || word == "false" || word == "no" || word == "off") return *value = false, true;
  return false;
}

static size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string close_name(std::string_view word, const std::vector<std::string>& names) {
  std::string best;
  size_t least = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& name : names) {
    const size_t distance = edit_distance(word, name);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace nearcache
