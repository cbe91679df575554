// SPDX-License-Identifier: BSD-3-Clause
#include "upc/atomic_value.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace nearcache::upc {
namespace {

// Convert a value of type T to a word and back.
template <class T>
uint64_t to_bits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T from_bits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
T combine(upc_op_t operation, T old, T operand) {
  switch (operation) {
    case UPC_ADD:
    case UPC_INC:
      return static_cast<T>(old + operand);
    case UPC_SUB:
    case UPC_DEC:
      return static_cast<T>(old - operand);
    case UPC_MULT:
      return static_cast<T>(old * operand);
    case UPC_MIN:
      return operand < old ? operand : old;
    case UPC_MAX:
      return old < operand ? operand : old;
  }
  if constexpr (std::is_integral_v<T>) {
    if (operation == UPC_AND) return old & operand;
    if (operation == UPC_OR) return old | operand;
    if (operation == UPC_XOR) return old ^ operand;
  }
  return old;
}

// Signed integers are added and multiplied as unsigned ones, and compared as signed.
template <class T>
uint64_t combine_bits(upc_op_t operation, uint64_t old, uint64_t operand) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    if (operation != UPC_MIN && operation != UPC_MAX)
      return combine_bits<std::make_unsigned_t<T>>(operation, old, operand);
  }
  return to_bits(combine(operation, from_bits<T>(old), from_bits<T>(operand)));
}

bool equal(AtomicType type, uint64_t a, uint64_t b) {
#ifndef NCUPC_STRUCT_POINTERS
  if (type.family == Family::pointer) return ncupc_equal(a, b);
#endif
  (void)type;
  return a == b;
}

}  // namespace

AtomicType atomic_type_of(upc_type_t type) {
  constexpr uint8_t long_size = sizeof(long);
  switch (type) {
    case UPC_INT:
    case UPC_INT32:
      return {Family::signed_integer, 4};
    case UPC_UINT:
    case UPC_UINT32:
      return {Family::unsigned_integer, 4};
    case UPC_LONG:
      return {Family::signed_integer, long_size};
    case UPC_ULONG:
      return {Family::unsigned_integer, long_size};
    case UPC_LLONG:
    case UPC_INT64:
      return {Family::signed_integer, 8};
    case UPC_ULLONG:
    case UPC_UINT64:
      return {Family::unsigned_integer, 8};
    case UPC_FLOAT:
      return {Family::floating, 4};
    case UPC_DOUBLE:
      return {Family::floating, 8};
    case UPC_PTS:
      return {Family::pointer, sizeof(ncupc_ptr)};
    default:
      return {Family::none, 0};
  }
}

AtomicValue load_value(AtomicType type, const void* from) {
  AtomicValue value;
  std::memcpy(&value, from, type.size);
  return value;
}

void store_value(AtomicType type, void* to, AtomicValue value) {
  std::memcpy(to, &value, type.size);
}

AtomicValue one(AtomicType type) {
  AtomicValue value;
  value.bits = type.family != Family::floating ? 1 : type.size == 4 ? to_bits(1.0F) : to_bits(1.0);
  return value;
}

uint64_t word_part(AtomicType type, uint64_t word, unsigned shift) {
  return type.size == 4 ? word >> shift & UINT32_MAX : word;
}

uint64_t with_word_part(AtomicType type, uint64_t word, unsigned shift, uint64_t value) {
  if (type.size == 8) return value;
  const uint64_t mask = uint64_t{UINT32_MAX} << shift;
  return (word & ~mask) | (value << shift & mask);
}

bool apply(AtomicType type, upc_op_t operation, uint64_t old, uint64_t operand1, uint64_t operand2,
           uint64_t* changed) {
  if (operation == UPC_SET) {
    *changed = operand1;
    return true;
  }
  if (operation == masked_set) {
    *changed = (old & ~operand2) | (operand1 & operand2);
    return true;
  }
  if (operation == UPC_CSWAP) {
    *changed = operand2;
    return equal(type, old, operand1);
  }
  const bool half = type.size == 4;
  switch (type.family) {
    case Family::signed_integer:
      *changed = half ? combine_bits<int32_t>(operation, old, operand1)
                      : combine_bits<int64_t>(operation, old, operand1);
      break;
    case Family::unsigned_integer:
      *changed = half ? combine_bits<uint32_t>(operation, old, operand1)
                      : combine_bits<uint64_t>(operation, old, operand1);
      break;
    case Family::floating:
      *changed = half ? combine_bits<float>(operation, old, operand1)
                      : combine_bits<double>(operation, old, operand1);
      break;
    default:
      break;
  }
  return true;
}

}  // namespace nearcache::upc
