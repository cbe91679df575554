// SPDX-License-Identifier: BSD-3-Clause

// Berkeley UPC's atomic functions, by the same accesses as upc_atomic.h's.
#include <cstring>
#include <type_traits>

#include "upc/atomic_access.h"

using namespace nearcache::upc;

namespace {

template <class T>
constexpr AtomicType type_of() {
  return {std::is_floating_point_v<T> ? Family::floating
          : std::is_signed_v<T>       ? Family::signed_integer
                                      : Family::unsigned_integer,
          static_cast<uint8_t>(sizeof(T))};
}

// An operation of atomic_value.h and its operands.
template <class T>
struct Wanted {
  const char* name;
  upc_op_t operation;
  T operand1{}, operand2{};
};

template <class T>
Access access_of(const Wanted<T>& wanted, ncupc_ptr target, bool wants_old) {
  const AtomicType type = type_of<T>();
  if (ncupc_is_null(target)) ncupc_error(nullptr, 0, wanted.name, "the target is a null pointer");
  if (ncupc_address(target) % sizeof(T) != 0)
    ncupc_error(nullptr, 0, wanted.name, "the target is not aligned to its size");
  return {nullptr,
          0,
          wanted.name,
          type,
          wanted.operation,
          ncupc_thread(target),
          ncupc_address(target),
          load_value(type, &wanted.operand1),
          load_value(type, &wanted.operand2),
          wants_old};
}

template <class T>
T change(const Wanted<T>& wanted, ncupc_ptr target, bool strict, bool wants_old = true) {
  T old{};
  const Access access = access_of(wanted, target, wants_old);
  if (strict)
    do_strict_access(access, wants_old ? &old : nullptr);
  else
    do_access(access, wants_old ? &old : nullptr);
  return old;
}

// This thread's shared memory counts as shared, since others change it by the functions above.
template <class T>
T change_private(const Wanted<T>& wanted, void* target, bool wants_old = true) {
  if (target == nullptr) ncupc_error(nullptr, 0, wanted.name, "the target is a null pointer");
  char* const place = static_cast<char*>(target);
  if (place >= runtime.arena && place < runtime.arena + runtime.arena_bytes) {
    const uint64_t address = static_cast<uint64_t>(place - runtime.arena);
    return change(wanted, ncupc_make(address, static_cast<size_t>(ncupc_mythread), 0), false,
                  wants_old);
  }
  const AtomicType type = type_of<T>();
  const uint64_t old = load_value(type, target).bits;
  AtomicValue changed;
  changed.bits = old;
  if (wanted.operation != UPC_GET) {
    apply(type, wanted.operation, old, load_value(type, &wanted.operand1).bits,
          load_value(type, &wanted.operand2).bits, &changed.bits);
    if (wanted.operation != UPC_CSWAP || old == load_value(type, &wanted.operand1).bits)
      store_value(type, target, changed);
  }
  T value;
  std::memcpy(&value, &old, sizeof value);
  return value;
}

}  // namespace

// CHANGE(wanted[, wants_old]) changes `target`.
#define NCUPC_DEFINE_NUMBER(name, T, pointer, order, CHANGE)                              \
  T name##_read_##order(pointer target) {                                                 \
    return CHANGE((Wanted<T>{#name "_read_" #order, UPC_GET}), true);                     \
  }                                                                                       \
  void name##_set_##order(pointer target, T value) {                                      \
    CHANGE((Wanted<T>{#name "_set_" #order, UPC_SET, value}), false);                     \
  }                                                                                       \
  T name##_swap_##order(pointer target, T value) {                                        \
    return CHANGE((Wanted<T>{#name "_swap_" #order, UPC_SET, value}), true);              \
  }                                                                                       \
  T name##_cswap_##order(pointer target, T expected, T value) {                           \
    return CHANGE((Wanted<T>{#name "_cswap_" #order, UPC_CSWAP, expected, value}), true); \
  }                                                                                       \
  T name##_fetchadd_##order(pointer target, T value) {                                    \
    return CHANGE((Wanted<T>{#name "_fetchadd_" #order, UPC_ADD, value}), true);          \
  }
#define NCUPC_DEFINE_BITS(name, T, pointer, order, CHANGE)                                    \
  T name##_mswap_##order(pointer target, T mask, T value) {                                   \
    return CHANGE((Wanted<T>{#name "_mswap_" #order, masked_set, value, mask}), true);        \
  }                                                                                           \
  T name##_fetchand_##order(pointer target, T value) {                                        \
    return CHANGE((Wanted<T>{#name "_fetchand_" #order, UPC_AND, value}), true);              \
  }                                                                                           \
  T name##_fetchor_##order(pointer target, T value) {                                         \
    return CHANGE((Wanted<T>{#name "_fetchor_" #order, UPC_OR, value}), true);                \
  }                                                                                           \
  T name##_fetchxor_##order(pointer target, T value) {                                        \
    return CHANGE((Wanted<T>{#name "_fetchxor_" #order, UPC_XOR, value}), true);              \
  }                                                                                           \
  T name##_fetchnot_##order(pointer target) {                                                 \
    return CHANGE((Wanted<T>{#name "_fetchnot_" #order, UPC_XOR, static_cast<T>(-1)}), true); \
  }

#define NCUPC_RELAXED(wanted, wants_old) change(wanted, target, false, wants_old)
#define NCUPC_STRICT(wanted, wants_old) change(wanted, target, true, wants_old)
#define NCUPC_PRIVATE(wanted, wants_old) change_private(wanted, target, wants_old)

#define NCUPC_DEFINE_FLOAT(name, T)                               \
  NCUPC_DEFINE_NUMBER(name, T, ncupc_ptr, relaxed, NCUPC_RELAXED) \
  NCUPC_DEFINE_NUMBER(name, T, ncupc_ptr, strict, NCUPC_STRICT)   \
  NCUPC_DEFINE_NUMBER(name, T, void*, private, NCUPC_PRIVATE)
#define NCUPC_DEFINE_INTEGER(name, T)                           \
  NCUPC_DEFINE_FLOAT(name, T)                                   \
  NCUPC_DEFINE_BITS(name, T, ncupc_ptr, relaxed, NCUPC_RELAXED) \
  NCUPC_DEFINE_BITS(name, T, ncupc_ptr, strict, NCUPC_STRICT)   \
  NCUPC_DEFINE_BITS(name, T, void*, private, NCUPC_PRIVATE)

extern "C" {
NCUPC_FOR_ATOMIC_INTEGERS(NCUPC_DEFINE_INTEGER)
NCUPC_FOR_ATOMIC_FLOATS(NCUPC_DEFINE_FLOAT)
}
