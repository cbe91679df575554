// SPDX-License-Identifier: BSD-3-Clause

// Parses what users write: numbers with units, names, and the closest of several names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nearcache {

// Parses a byte count with an optional suffix k, M, G or T (powers of 1024; "KiB" and "kb" mean the
// same; see byte_size.h). Returns false if the text is malformed.
bool parse_bytes(std::string_view text, uint64_t* value);
// Parses a time with an optional suffix ns, us, ms or s (default ns) into nanoseconds.
bool parse_time_ns(std::string_view text, uint64_t* value);
// Parses decimal digits and nothing else; false also if the number needs more than 64 bits.
bool parse_count(std::string_view text, uint64_t* value);
// Parses a finite number, not below 0, with a point and an exponent if need be.
bool parse_ratio(std::string_view text, double* value);
// Parses true, yes, on or 1, and false, no, off or 0, in any case.
bool parse_bool(std::string_view text, bool* value);

std::string lower_case(std::string_view text);

// Returns the name with the smallest edit distance to `word`, if it is close enough to be a typo:
// at most two edits, or a third of the word's length if that is more. Otherwise returns "".
std::string close_name(std::string_view word, const std::vector<std::string>& names);

}  // namespace nearcache
