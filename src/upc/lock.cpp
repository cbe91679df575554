// SPDX-License-Identifier: BSD-3-Clause

// Queue locks (Mellor-Crummey and Scott 1991). A lock is a word that names the last node of its
// queue. A thread appends a node of its own by one swap, and waits in its own memory until its
// predecessor passes the lock on. So waiting causes no traffic, and threads are served in the order
// of arrival.
//
// A lock consists of its tail. A node consists of the next node and a flag that its thread must
// wait. Nodes are named by (thread + 1) << 40 | offset. A table has this thread's nodes in use, by
// lock.
#include "upc/internal.h"

namespace nearcache::upc {
namespace {

constexpr uint64_t next_at = 0, waits_at = 8;
constexpr size_t lock_bytes = 64, node_bytes = 64;  // a cache line each

size_t me() { return static_cast<size_t>(ncupc_mythread); }
uint64_t& own(uint64_t offset) { return *reinterpret_cast<uint64_t*>(runtime.arena + offset); }

uint64_t name_of(uint64_t node) { return (static_cast<uint64_t>(me()) + 1) << 40 | node; }
size_t thread_of(uint64_t name) { return static_cast<size_t>(name >> 40) - 1; }
uint64_t offset_of(uint64_t name) { return name & ((uint64_t{1} << 40) - 1); }

uint64_t take_node(const char* file, int line, const char* call) {
  uint64_t node = runtime.locks.free_nodes;
  if (node != 0) {
    runtime.locks.free_nodes = own(node);
  } else {
    node = heap_allocate_local(node_bytes);
    if (node == 0)
      ncupc_error(file, line, call,
                  "no room in the shared heap: raise --shared-heap (NEARCACHE_UPC_SHARED_HEAP)");
  }
  own(node + next_at) = 0;
  own(node + waits_at) = 1;
  return node;
}

void give_node(uint64_t node) {
  own(node) = runtime.locks.free_nodes;
  runtime.locks.free_nodes = node;
}

uint64_t key_of(ncupc_ptr lock) {
  return static_cast<uint64_t>(ncupc_thread(lock)) << 40 | ncupc_address(lock);
}

void check_pointer(const char* file, int line, const char* call, ncupc_ptr lock) {
  if (ncupc_is_null(lock)) ncupc_error(file, line, call, "the lock is a null pointer");
}

// A lock that this thread held may have been freed by another, and be a new one at the same address
// now: of its queue this thread's node is neither the last, nor does another follow it. A node that
// one may still be about to follow is not used again.
bool holds(ncupc_ptr lock) {
  const HeldLocks::Entry* entry = runtime.locks.held.find(key_of(lock));
  if (entry == nullptr) return false;
  const uint64_t node = entry->node, last = word_fetch(ncupc_thread(lock), ncupc_address(lock));
  if (last == name_of(node) || (last != 0 && own_word(node + next_at) != 0)) return true;
  if (last == 0) give_node(node);
  runtime.locks.held.remove(key_of(lock));
  return false;
}

uint64_t new_lock(const char* file, int line, const char* call) {
  const uint64_t block = heap_allocate_local(lock_bytes);
  if (block == 0)
    ncupc_error(file, line, call,
                "no room in the shared heap: raise --shared-heap (NEARCACHE_UPC_SHARED_HEAP)");
  own(block) = 0;
  return block;
}

void note(const char* file, int line, const char* call, ncupc_ptr lock, uint64_t node) {
  if (!runtime.locks.held.add({key_of(lock), node}))
    ncupc_error(file, line, call, "no memory for the table of locks");
}

void free_lock(const char* file, int line, const char* call, ncupc_ptr lock) {
  if (ncupc_is_null(lock)) return;
  if (holds(lock)) {
    give_node(runtime.locks.held.find(key_of(lock))->node);
    runtime.locks.held.remove(key_of(lock));
  }
  heap_free(file, line, call, lock);
}

}  // namespace
}  // namespace nearcache::upc

using namespace nearcache::upc;

extern "C" {

ncupc_ptr ncupc_global_lock_alloc(const char* file, int line) {
  return ncupc_make(new_lock(file, line, "upc_global_lock_alloc"), me(), 0);
}

// Each new lock is placed on the next thread.
ncupc_ptr ncupc_all_lock_alloc(const char* file, int line) {
  const size_t home = runtime.locks.made++ % static_cast<size_t>(ncupc_threads);
  const uint64_t block = home == me() ? new_lock(file, line, "upc_all_lock_alloc") : 0;
  return ncupc_make(internal_barrier(block), home, 0);
}

void ncupc_lock(const char* file, int line, ncupc_ptr lock) {
  check_pointer(file, line, "upc_lock", lock);
  if (holds(lock)) ncupc_error(file, line, "upc_lock", "this thread holds the lock already");
  const uint64_t node = take_node(file, line, "upc_lock");
  release();
  const uint64_t before = word_swap(ncupc_thread(lock), ncupc_address(lock), name_of(node));
  if (before != 0) {
    word_set(thread_of(before), offset_of(before) + next_at, name_of(node));
    Waiter waiter;
    while (own_word(node + waits_at) != 0) waiter.pause();
  }
  note(file, line, "upc_lock", lock, node);
  acquire("upc_lock");
}

int ncupc_lock_attempt(const char* file, int line, ncupc_ptr lock) {
  check_pointer(file, line, "upc_lock_attempt", lock);
  if (holds(lock))
    ncupc_error(file, line, "upc_lock_attempt", "this thread holds the lock already");
  const uint64_t node = take_node(file, line, "upc_lock_attempt");
  release();
  if (word_compare_swap(ncupc_thread(lock), ncupc_address(lock), 0, name_of(node)) != 0) {
    give_node(node);
    Waiter waiter;
    waiter.pause();  // the program may be waiting in a loop of attempts
    return 0;
  }
  note(file, line, "upc_lock_attempt", lock, node);
  acquire("upc_lock_attempt");
  return 1;
}

void ncupc_unlock(const char* file, int line, ncupc_ptr lock) {
  check_pointer(file, line, "upc_unlock", lock);
  const HeldLocks::Entry* entry = runtime.locks.held.find(key_of(lock));
  if (entry == nullptr) ncupc_error(file, line, "upc_unlock", "this thread does not hold the lock");
  const uint64_t node = entry->node;
  release();
  runtime.locks.held.remove(key_of(lock));
  if (own_word(node + next_at) != 0 || word_compare_swap(ncupc_thread(lock), ncupc_address(lock),
                                                         name_of(node), 0) != name_of(node)) {
    Waiter waiter;  // another thread has swapped itself in and will link its node soon
    uint64_t next = 0;
    while ((next = own_word(node + next_at)) == 0) waiter.pause();
    word_set(thread_of(next), offset_of(next) + waits_at, 0);
    release();
  }
  give_node(node);
}

void ncupc_lock_free(const char* file, int line, ncupc_ptr lock) {
  free_lock(file, line, "upc_lock_free", lock);
}

void ncupc_all_lock_free(const char* file, int line, ncupc_ptr lock) {
  internal_barrier(0);
  if (ncupc_thread(lock) == me()) free_lock(file, line, "upc_all_lock_free", lock);
}

}  // extern "C"
