// Values of atomic domains: their types, and what each operation makes of an old value.
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
  uint8_t size;  // bytes: 4, 8, or 16 of pointers-to-shared in their struct form
  size_t alignment() const { return size < 8 ? size : 8; }
};

// A value in the lower bytes of a word, the others 0; or a pointer-to-shared, whichever its size.
union AtomicValue {
  uint64_t bits = 0;
  ncupc_ptr pointer;
};

AtomicType atomic_type_of(upc_type_t type);

AtomicValue load_value(AtomicType type, const void* from);
void store_value(AtomicType type, void* to, AtomicValue value);
AtomicValue one(AtomicType type);

// The object `shift` bits into a word, and the word with another value there.
uint64_t word_part(AtomicType type, uint64_t word, unsigned shift);
uint64_t with_word_part(AtomicType type, uint64_t word, unsigned shift, uint64_t value);

// An operation that upc_atomic.h does not have: the bits of operand2 are set to those of operand1.
constexpr upc_op_t masked_set = 1UL << 32;

// Sets *changed to what the operation makes of `old`; false if it leaves it as it is: a
// compare-and-swap that compares unequal.
bool apply(AtomicType type, upc_op_t operation, uint64_t old, uint64_t operand1, uint64_t operand2,
           uint64_t* changed);

}  // namespace nearcache::upc
#pragma GCC visibility pop
