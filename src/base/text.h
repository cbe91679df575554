// Parsing of what users write: numbers with units, names, and the nearest of several names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nearcache {

// Whole numbers with an optional suffix k, M, G, T (powers of 1024; "KiB" and "kb" are taken
// alike). False if ill-formed.
bool parse_bytes(std::string_view text, uint64_t* value);
// Nanoseconds from a number with an optional suffix ns, us, ms, s.
bool parse_time_ns(std::string_view text, uint64_t* value);
bool parse_count(std::string_view text, uint64_t* value);
bool parse_ratio(std::string_view text, double* value);
bool parse_bool(std::string_view text, bool* value);

std::string lower_case(std::string_view text);

// The name with the smallest edit distance to `word`, if so few edits can be a slip: two, or a
// third of the word. Else "".
std::string close_name(std::string_view word, const std::vector<std::string>& names);

}  // namespace nearcache
