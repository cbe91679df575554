// Element types and operations of accumulates, as C and Fortran have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace nearcache::rma {

// `bytes` are opaque: only replace and no_op know them, and bitwise operations. Logical ones are
// integers in which not 0 is true. Pairs are the structs of minloc and maxloc: a value, then its
// index (int, if not said otherwise).
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
  float32,
  float64,
  long_double,
  float128,
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
inline constexpr int element_count = 26;

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

// Bytes from one element to the next. Of pairs, with what lies between value and index and behind
// them.
size_t size_of(Element element);

// Where the parts of a pair lie that has gaps between or behind them, which are not the pair's.
struct PairParts {
  size_t value_bytes, index_at, index_bytes;
  size_t end() const { return index_at + index_bytes; }
};
// None of what has no gaps.
std::optional<PairParts> gapped_pair(Element element);
// Bytes behind an element that are not its own: the last one of a row may end before them.
size_t tail_of(Element element);

// Whether the standard (or its examples) gives the operation a meaning for the type.
bool has_meaning(Operation operation, Element element);

// memory = memory op data, for `count` elements; has_meaning. Neither need be aligned.
void apply(Operation operation, Element element, std::byte* memory, const std::byte* data,
           size_t count);

}  // namespace nearcache::rma
