// SPDX-License-Identifier: BSD-3-Clause
#include "upc/atomic_access.h"

#include "upc/collectives.h"

namespace nearcache::upc {
namespace {

// Repeats a compare-and-swap of the word until no other thread intervenes. Returns the object's old
// value.
uint64_t change_in_word(const Access& access) {
  uint64_t word = word_fetch(access.thread, access.word());
  for (;;) {
    const uint64_t old = word_part(access.type, word, access.shift());
    uint64_t changed = old;
    if (!apply(access.type, access.operation, old, access.operand1.bits, access.operand2.bits,
               &changed))
      return old;
    const uint64_t found =
        word_compare_swap(access.thread, access.word(), word,
                          with_word_part(access.type, word, access.shift(), changed));
    if (found == word) return old;
    word = found;
  }
}

uint64_t do_word(const Access& access) {
  if (access.operation == UPC_GET)
    return word_part(access.type, word_fetch(access.thread, access.word()), access.shift());
  if (access.type.size == 8) {
    const uint64_t operand = access.operand1.bits;
    // Only what has answered comes before later loads and stores of memory within reach.
    const bool within_reach = ncupc_near[access.thread] != nullptr;
    if (access.operation == UPC_SET && (access.wants_old || within_reach))
      return word_swap(access.thread, access.address, operand);
    if (access.operation == UPC_SET) {
      word_set(access.thread, access.address, operand);
      return 0;
    }
    if (access.type.family == Family::signed_integer ||
        access.type.family == Family::unsigned_integer) {
      if (access.operation == UPC_ADD || access.operation == UPC_INC)
        return word_fetch_add(access.thread, access.address, operand);
      if (access.operation == UPC_SUB || access.operation == UPC_DEC)
        return word_fetch_add(access.thread, access.address, 0 - operand);
      if (access.operation == UPC_CSWAP)
        return word_compare_swap(access.thread, access.address, operand, access.operand2.bits);
    }
  }
  return change_in_word(access);
}

// Pointers-to-shared of two words are accessed under a lock at their owner, which every access
// through a domain takes.
AtomicValue do_pair(const Access& access) {
  while (word_compare_swap(access.thread, pair_lock_offset, 0, my_thread() + 1) != 0)
    Waiter().pause();
  acquire(access.name);
  AtomicValue old;
  const ncupc_ptr target = at(access.thread, access.address);
  read_bytes(&old.pointer, target, sizeof old.pointer);
  const bool writes =
      access.operation == UPC_SET ||
      (access.operation == UPC_CSWAP && ncupc_equal(old.pointer, access.operand1.pointer));
  if (writes) {
    const ncupc_ptr value =
        access.operation == UPC_SET ? access.operand1.pointer : access.operand2.pointer;
    write_bytes(target, &value, sizeof value);
  }
  release();
  word_swap(access.thread, pair_lock_offset, 0);
  return old;
}

}  // namespace

void do_access(const Access& access, void* fetch) {
  // The library does not order an atomic after this thread's puts to the same object, which may
  // still be in flight.
  if (ncupc_near[access.thread] == nullptr) {
    before_far_read(access.thread, access.word(), 8);
    if (access.operation == UPC_SET && fetch == nullptr)
      before_far_write(access.thread, access.word(), 8);
  }
  AtomicValue old;
  if (access.type.size > 8)
    old = do_pair(access);
  else
    old.bits = do_word(access);
  if (fetch != nullptr) store_value(access.type, fetch, old);
}

void do_strict_access(const Access& access, void* fetch) {
  release();
  do_access(access, fetch);
  release();  // a set counts as a put
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  acquire(access.name);
}

}  // namespace nearcache::upc
