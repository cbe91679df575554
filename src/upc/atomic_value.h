// SPDX-License-Identifier: BSD-3-Clause

// The values of atomic domains: their types, and the new value that each operation computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "upc/internal.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

enum class Family : uint8_t { none, signed_integer, unsigned_integer, floating, pointer };

struct AtomicType {
  Family family;
  uint8_t size;  // bytes: 4, 8, or 16 for pointers-to-shared in their struct form
  size_t alignment() const { return size < 8 ? size : 8; }
};

// A value in the low bytes of a word, whose other bytes are 0; or a pointer-to-shared of either
// size.
union AtomicValue {
  uint64_t bits = 0;
  ncupc_ptr pointer;
};

AtomicType atomic_type_of(upc_type_t type);

AtomicValue load_value(AtomicType type, const void* from);
void store_value(AtomicType type, void* to, AtomicValue value);
AtomicValue one(AtomicType type);

// Extracts the object `shift` bits into a word, and returns the word with another value there.
uint64_t word_part(AtomicType type, uint64_t word, unsigned shift);
uint64_t with_word_part(AtomicType type, uint64_t word, unsigned shift, uint64_t value);

// An operation that upc_atomic.h lacks: copies the bits selected by operand2 from operand1.
constexpr upc_op_t masked_set = 1UL << 32;

// Sets *changed to the result of the operation on `old`. Returns false if nothing is to be stored:
// a compare-and-swap that compares unequal.
bool apply(AtomicType type, upc_op_t operation, uint64_t old, uint64_t operand1, uint64_t operand2,
           uint64_t* changed);

}  // namespace nearcache::upc
#pragma GCC visibility pop
