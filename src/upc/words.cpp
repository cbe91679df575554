// SPDX-License-Identifier: BSD-3-Clause

// Words that threads change atomically, and waiting for them.
#include <dlfcn.h>
#include <sched.h>
#include <shmem.h>

#include "base/spin.h"
#include "upc/internal.h"
#include "upc/unordered.h"

namespace nearcache::upc {
namespace {

static_assert(sizeof(long) == 8, "the words of the runtime are longs of OpenSHMEM");

long* symmetric(uint64_t offset) { return reinterpret_cast<long*>(runtime.arena + offset); }
uint64_t* near_word(size_t thread, uint64_t offset) {
  return reinterpret_cast<uint64_t*>(ncupc_near[thread] + offset);
}

int pe(size_t thread) { return static_cast<int>(thread); }

// Lets others' earlier requests for a word go first. Over a network they are carried out only
// within this thread's calls, but not by the library's atomics on its own words: a thread that
// locks and unlocks its own lock and computes in between would lock all others out.
void let_others_first(size_t thread) {
  if (static_cast<int>(thread) == ncupc_mythread) progress();
}

// Guard around an atomic of the library.
struct LibraryAtomic {
  explicit LibraryAtomic(size_t thread) { let_others_first(thread); }
  const Unordered unordered;
};

}  // namespace

uint64_t word_fetch(size_t thread, uint64_t offset) {
  if (runtime.all_near) return __atomic_load_n(near_word(thread, offset), __ATOMIC_SEQ_CST);
  const LibraryAtomic atomic(thread);
  return static_cast<uint64_t>(shmem_long_atomic_fetch(symmetric(offset), pe(thread)));
}

void word_set(size_t thread, uint64_t offset, uint64_t value) {
  if (runtime.all_near) return __atomic_store_n(near_word(thread, offset), value, __ATOMIC_SEQ_CST);
  const LibraryAtomic atomic(thread);
  shmem_long_atomic_set(symmetric(offset), static_cast<long>(value), pe(thread));
  ncupc_writing = 1;
}

void word_put(size_t thread, uint64_t offset, uint64_t value) {
  if (ncupc_near[thread] != nullptr)
    return __atomic_store_n(near_word(thread, offset), value, __ATOMIC_RELEASE);
  shmem_long_p(symmetric(offset), static_cast<long>(value), pe(thread));
  ncupc_writing = 1;
}

uint64_t word_swap(size_t thread, uint64_t offset, uint64_t value) {
  if (runtime.all_near)
    return __atomic_exchange_n(near_word(thread, offset), value, __ATOMIC_SEQ_CST);
  const LibraryAtomic atomic(thread);
  return static_cast<uint64_t>(
      shmem_long_atomic_swap(symmetric(offset), static_cast<long>(value), pe(thread)));
}

uint64_t word_compare_swap(size_t thread, uint64_t offset, uint64_t expected, uint64_t value) {
  if (runtime.all_near) {
    __atomic_compare_exchange_n(near_word(thread, offset), &expected, value, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;  // now the old value
  }
  const LibraryAtomic atomic(thread);
  return static_cast<uint64_t>(shmem_long_atomic_compare_swap(
      symmetric(offset), static_cast<long>(expected), static_cast<long>(value), pe(thread)));
}

uint64_t word_fetch_add(size_t thread, uint64_t offset, uint64_t value) {
  if (runtime.all_near)
    return __atomic_fetch_add(near_word(thread, offset), value, __ATOMIC_SEQ_CST);
  const LibraryAtomic atomic(thread);
  return static_cast<uint64_t>(
      shmem_long_atomic_fetch_add(symmetric(offset), static_cast<long>(value), pe(thread)));
}

// Open MPI's library serves other PEs' requests only within calls that wait for another PE; tests,
// fences, quiets with nothing outstanding, and calls on the own PE do not. So its progress function
// is called directly if there is one. With other libraries, such as Sandia's, a test suffices; a
// get from another PE now and then works everywhere.
void polls_start(int looks_before_yield) {
  runtime.polls.looks_before_yield = looks_before_yield;
  runtime.polls.library_progress =
      reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "opal_progress"));
}

void progress() {
  if (!runtime.any_far) return;
  if (runtime.polls.library_progress != nullptr) return runtime.polls.library_progress();
  const Unordered unordered;
  shmem_long_test(symmetric(NCUPC_CONTROL(unused)), SHMEM_CMP_NE, 0);
  if (++runtime.polls.tests % 64 == 0)
    (void)shmem_long_atomic_fetch(symmetric(NCUPC_CONTROL(unused)),
                                  (ncupc_mythread + 1) % ncupc_threads);
}

void Waiter::pause() {
  progress();
  if (++looks_ % static_cast<unsigned>(runtime.polls.looks_before_yield) == 0) {
    sched_yield();
  } else {
    relax_processor();
  }
}

}  // namespace nearcache::upc
