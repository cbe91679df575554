// SPDX-License-Identifier: BSD-3-Clause

// Element types and operations of accumulates, as C and Fortran have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace nearcache::rma {

// `bytes` are opaque: only replace, no_op and the bitwise operations apply. Logical values are
// integers; not 0 is true. Pairs are the structs of minloc and maxloc: a value, then its index (an
// int unless the name says otherwise).
enum class Element : uint8_t {
  bytes,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  int128,
  float16,
  float32,
  float64,
  long_double,
  float128,
  complex32,
  complex64,
  complex128,
  complex_long_double,
  complex256,
  pair_float,
  pair_double,
  pair_long,
  pair_int,
  pair_short,
  pair_long_double,
  pair_of_floats,
  pair_of_doubles
};
inline constexpr int element_count = 28;

enum class Operation : uint8_t {
  replace,
  no_op,
  sum,
  product,
  minimum,
  maximum,
  logical_and,
  logical_or,
  logical_xor,
  bit_and,
  bit_or,
  bit_xor,
  minloc,
  maxloc
};
inline constexpr int operation_count = 14;

// Bytes from one element to the next; for pairs, including the gaps between and behind value and
// index.
size_t size_of(Element element);

// Where the parts of a pair with gaps lie. Gaps, between or behind the parts, do not belong to the
// pair.
struct PairParts {
  size_t value_bytes, index_at, index_bytes;
  size_t end() const { return index_at + index_bytes; }
};
// None if the element has no gaps.
std::optional<PairParts> gapped_pair(Element element);
// Bytes at the end of an element that are not its own: the last element of an array may lack them.
size_t tail_of(Element element);

// Whether the standard (or its examples) gives the operation a meaning for the type.
bool has_meaning(Operation operation, Element element);

// memory = memory op data, for `count` elements. has_meaning() must be true. Neither address need
// be aligned.
void apply(Operation operation, Element element, std::byte* memory, const std::byte* data,
           size_t count);

}  // namespace nearcache::rma
