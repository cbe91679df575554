// SPDX-License-Identifier: BSD-3-Clause

// Berkeley UPC's semaphores: one word, so that a post is one fetch_add, whose answer tells whether
// it was a semaphore at all.
//
// mark 16 bits | boolean 1 | unused 15 | value 32. Unused bits keep an overflowing value from
// spoiling the mark before the program has ended with an error.
#include "upc/collectives.h"
#include "upc/heap.h"

using namespace nearcache::upc;

namespace {

constexpr uint64_t mark = uint64_t{0x5e3a} << 48, mark_mask = uint64_t{0xffff} << 48,
                   boolean = uint64_t{1} << 47;
constexpr size_t semaphore_bytes = 64;  // a cache line of its own, as others poll it

uint64_t value_of(uint64_t word) { return word & UINT32_MAX; }

uint64_t checked(uint64_t word, const char* call) {
  if ((word & mark_mask) != mark) ncupc_error(nullptr, 0, call, "this is not a semaphore");
  return word;
}

void check(const char* call, ncupc_ptr s, size_t n) {
  if (ncupc_is_null(s)) ncupc_error(nullptr, 0, call, "the semaphore is a null pointer");
  if (ncupc_address(s) % 8 != 0) ncupc_error(nullptr, 0, call, "this is not a semaphore");
  if (n > BUPC_SEM_MAXVALUE) ncupc_error(nullptr, 0, call, "%zu is above BUPC_SEM_MAXVALUE", n);
}

void check_amount(const char* call, uint64_t word, size_t n) {
  if (n > 1 && (checked(word, call) & boolean) != 0)
    ncupc_error(nullptr, 0, call, "%zu of a boolean semaphore", n);
}

// Posts a boolean semaphore: its value becomes 1.
void add(const char* call, ncupc_ptr s, size_t n) {
  uint64_t word = checked(word_fetch(ncupc_thread(s), ncupc_address(s)), call);
  check_amount(call, word, n);
  if ((word & boolean) == 0) {
    word = word_fetch_add(ncupc_thread(s), ncupc_address(s), n);
    if (value_of(word) + n > BUPC_SEM_MAXVALUE)
      ncupc_error(nullptr, 0, call, "the value is above BUPC_SEM_MAXVALUE");
    return;
  }
  while (n != 0 && value_of(word) == 0) {
    const uint64_t found = word_compare_swap(ncupc_thread(s), ncupc_address(s), word, word + 1);
    if (found == word) return;
    word = checked(found, call);
  }
}

void post(const char* call, ncupc_ptr s, size_t n) {
  check(call, s, n);
  release();
  add(call, s, n);
  acquire(call);
}

// Subtracts n unless the value is smaller.
bool take(const char* call, ncupc_ptr s, size_t n) {
  const size_t thread = ncupc_thread(s);
  uint64_t word =
      thread == my_thread() ? own_word(ncupc_address(s)) : word_fetch(thread, ncupc_address(s));
  check_amount(call, word, n);
  while (value_of(checked(word, call)) >= n) {
    const uint64_t found = word_compare_swap(thread, ncupc_address(s), word, word - n);
    if (found == word) return true;
    word = found;
  }
  return false;
}

void wait(const char* call, ncupc_ptr s, size_t n) {
  check(call, s, n);
  release();
  for (Waiter waiter; !take(call, s, n);) waiter.pause();
  acquire(call);
}

int attempt(const char* call, ncupc_ptr s, size_t n) {
  check(call, s, n);
  release();
  const bool taken = take(call, s, n);
  if (!taken) Waiter().pause();  // the program may be waiting in a loop of attempts
  acquire(call);
  return taken;
}

void put_and_post(const char* call, ncupc_ptr dst, const void* src, size_t bytes, ncupc_ptr s,
                  size_t n) {
  check(call, s, n);
  if (ncupc_thread(dst) != ncupc_thread(s)) {
    ncupc_error(nullptr, 0, call, "the destination is on thread %zu, the semaphore on thread %zu",
                ncupc_thread(dst), ncupc_thread(s));
  }
  upc_memput(dst, src, bytes);
  post(call, s, n);
}

}  // namespace

extern "C" {

ncupc_ptr bupc_sem_alloc(int flags) {
  constexpr int known = BUPC_SEM_BOOLEAN | BUPC_SEM_INTEGER | BUPC_SEM_SPRODUCER |
                        BUPC_SEM_MPRODUCER | BUPC_SEM_SCONSUMER | BUPC_SEM_MCONSUMER;
  const auto both = [flags](int a, int b) { return (flags & a) != 0 && (flags & b) != 0; };
  if ((flags & ~known) != 0 || both(BUPC_SEM_BOOLEAN, BUPC_SEM_INTEGER) ||
      both(BUPC_SEM_SPRODUCER, BUPC_SEM_MPRODUCER) ||
      both(BUPC_SEM_SCONSUMER, BUPC_SEM_MCONSUMER)) {
    ncupc_error(nullptr, 0, "bupc_sem_alloc", "flags 0x%x are not one of each kind",
                static_cast<unsigned>(flags));
  }
  const uint64_t block = heap_allocate_local(semaphore_bytes);
  if (block == 0)
    ncupc_error(nullptr, 0, "bupc_sem_alloc",
                "no room in the shared heap: raise --shared-heap (NEARCACHE_UPC_SHARED_HEAP)");
  *reinterpret_cast<uint64_t*>(own(block)) = mark | ((flags & BUPC_SEM_BOOLEAN) != 0 ? boolean : 0);
  return at(my_thread(), block);
}

void bupc_sem_free(ncupc_ptr s) {
  if (ncupc_is_null(s)) return;
  check("bupc_sem_free", s, 0);
  checked(word_swap(ncupc_thread(s), ncupc_address(s), 0), "bupc_sem_free");
  heap_free(nullptr, 0, "bupc_sem_free", s);
}

void bupc_sem_post(ncupc_ptr s) { post("bupc_sem_post", s, 1); }
void bupc_sem_postN(ncupc_ptr s, size_t n) { post("bupc_sem_postN", s, n); }
void bupc_sem_wait(ncupc_ptr s) { wait("bupc_sem_wait", s, 1); }
void bupc_sem_waitN(ncupc_ptr s, size_t n) { wait("bupc_sem_waitN", s, n); }
int bupc_sem_try(ncupc_ptr s) { return attempt("bupc_sem_try", s, 1); }
int bupc_sem_tryN(ncupc_ptr s, size_t n) { return attempt("bupc_sem_tryN", s, n); }

void bupc_memput_signal(ncupc_ptr dst, const void* src, size_t bytes, ncupc_ptr s, size_t n) {
  put_and_post("bupc_memput_signal", dst, src, bytes, s, n);
}
void bupc_memput_signal_async(ncupc_ptr dst, const void* src, size_t bytes, ncupc_ptr s, size_t n) {
  put_and_post("bupc_memput_signal_async", dst, src, bytes, s, n);
}

}  // extern "C"
