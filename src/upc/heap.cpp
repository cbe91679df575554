// SPDX-License-Identifier: BSD-3-Clause

// Allocation without a bottleneck: every thread takes ever larger chunks from the two ends of the
// heap (heap_ends.h) and subdivides them itself.
//
// A block is preceded by an id, on the thread that its pointer names (for a global block thread 0,
// whoever allocated it). Freeing changes the id from `allocated` to `freed` by compare-and-swap,
// which detects bad pointers and double frees, and gives the block back to the thread that
// allocated it, by appending it to a list that this thread empties before it allocates.
#include <algorithm>

#include "upc/heap_ends.h"
#include "upc/internal.h"

namespace nearcache::upc {
namespace {

using Kind = Heap::Kind;
constexpr Kind local = Heap::local, global = Heap::global;

size_t me() { return static_cast<size_t>(ncupc_mythread); }

// Returns free memory next to the middle of the heap, so that either end may take it: local memory
// whenever much is free, as that changes only this thread's word; global memory, which changes all
// threads' words, only when this thread has no room left.
void return_local() {
  constexpr size_t much = size_t{1} << 20;
  const size_t cut =
      runtime.heap.pools[local].trim_low(heap_local_begin() * heap_page, heap_page, much);
  if (cut != 0) heap_give_local(static_cast<uint32_t>(cut / heap_page));
}

void return_global() {
  const uint32_t end = heap_global_end();
  const size_t cut = runtime.heap.pools[global].trim_high(end * heap_page, heap_page, heap_page);
  if (cut != 0) heap_give_global(end, static_cast<uint32_t>(cut / heap_page));
}

// Adds a chunk with room for a block of `bytes`: preferably as large as all previous chunks
// together, at least what is needed.
bool extend(Kind kind, size_t bytes) {
  const size_t needed = heap_align(bytes + Pool::chunk_overhead);
  for (size_t wanted = std::max(needed, runtime.heap.next_chunk[kind]);;
       wanted = std::max(needed, heap_align(wanted / 2))) {
    const uint32_t pages = static_cast<uint32_t>(wanted / heap_page);
    const uint64_t page = kind == local ? heap_take_local(pages) : heap_take_global(pages);
    if (page != 0) {
      runtime.heap.pools[kind].add_chunk(page * heap_page, wanted);
      const size_t most = heap_align((runtime.arena_bytes - runtime.heap_start) / 16);
      runtime.heap.next_chunk[kind] =
          std::min(std::max(runtime.heap.next_chunk[kind], wanted) * 2, std::max(most, heap_page));
      return true;
    }
    if (wanted == needed) return false;
  }
}

// ---- Ids: magic 16 bits | bits of the address 20 | kind 1 | state 3 | owner 24.

enum State : uint64_t { allocated = 1, freed = 2 };
constexpr uint64_t magic = 0x4e43;

uint64_t make_id(uint64_t block, Kind kind, size_t owner, State state) {
  return magic << 48 | (block / unit & 0xfffff) << 28 | static_cast<uint64_t>(kind) << 27 |
         static_cast<uint64_t>(state) << 24 | owner;
}
Kind kind_of(uint64_t id) { return static_cast<Kind>(id >> 27 & 1); }
size_t owner_of(uint64_t id) { return static_cast<size_t>(id & 0xffffff); }

// ---- Blocks that other threads have freed: a list through the first words of the blocks, in
// units, with the kind in the lowest bit.

void hand_back(size_t owner, uint64_t block, Kind kind) {
  uint64_t head = word_fetch(owner, NCUPC_CONTROL(freed));
  for (;;) {
    word_set(owner, block, head);
    release();
    const uint64_t was =
        word_compare_swap(owner, NCUPC_CONTROL(freed), head, block | static_cast<uint64_t>(kind));
    if (was == head) return;
    head = was;
  }
}

void take_back() {
  if (own_word(NCUPC_CONTROL(freed)) == 0) return;
  uint64_t entry = word_swap(me(), NCUPC_CONTROL(freed), 0);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  while (entry != 0) {
    const uint64_t block = entry & ~uint64_t{1};
    const Kind kind = static_cast<Kind>(entry & 1);
    entry = own_word(block);
    runtime.heap.pools[kind].free(block);
  }
  return_local();
}

uint64_t allocate(Kind kind, size_t bytes) {
  take_back();
  uint64_t block = runtime.heap.pools[kind].allocate(bytes);
  for (bool returned = false; block == 0; block = runtime.heap.pools[kind].allocate(bytes)) {
    if (extend(kind, bytes)) continue;
    if (returned) return 0;
    returned = true;
    return_global();
  }
  return block;
}

[[noreturn]] void exhausted(const char* file, int line, const char* call, size_t bytes) {
  ncupc_error(file, line, call,
              "no room for %zu bytes in the shared heap of %zu bytes per thread (%zu of them not "
              "divided yet): raise --shared-heap "
              "(NEARCACHE_UPC_SHARED_HEAP)",
              bytes, runtime.arena_bytes - runtime.heap_start, heap_pages_between() * heap_page);
}

// A thread's share of `blocks` blocks of `bytes`.
size_t share(const char* file, int line, const char* call, size_t blocks, size_t bytes) {
  const size_t rows = blocks / static_cast<size_t>(ncupc_threads) +
                      (blocks % static_cast<size_t>(ncupc_threads) != 0);
  size_t total = 0;
  if (__builtin_mul_overflow(rows, bytes, &total)) exhausted(file, line, call, SIZE_MAX);
  return total;
}

ncupc_ptr allocate_global(const char* file, int line, const char* call, size_t bytes) {
  if (bytes == 0) return NCUPC_NULL;
  const uint64_t block = bytes < runtime.arena_bytes ? allocate(global, bytes) : 0;
  if (block == 0) exhausted(file, line, call, bytes);
  word_set(0, block - 16, make_id(block, global, me(), allocated));
  return ncupc_make(block, 0, 0);
}

ncupc_ptr allocate_local(const char* file, int line, const char* call, size_t bytes) {
  if (bytes == 0) return NCUPC_NULL;
  const uint64_t block = bytes < runtime.arena_bytes ? heap_allocate_local(bytes) : 0;
  if (block == 0) exhausted(file, line, call, bytes);
  return ncupc_make(block, me(), 0);
}

// The id that an allocated block at `p` has.
uint64_t check(const char* file, int line, const char* call, ncupc_ptr p) {
  const size_t thread = ncupc_thread(p);
  const uint64_t block = ncupc_address(p);
  uint64_t id = 0;
  const bool inside = thread < static_cast<size_t>(ncupc_threads) && block % unit == 0 &&
                      block > runtime.heap_start && block < runtime.arena_bytes;
  if (inside) id = thread == me() ? own_word(block - 16) : word_fetch(thread, block - 16);
  const Kind kind = kind_of(id);
  const size_t owner = owner_of(id);
  const bool fits =
      inside && owner < static_cast<size_t>(ncupc_threads) && thread == (kind == local ? owner : 0);
  if (fits && id == make_id(block, kind, owner, freed)) {
    ncupc_error(file, line, call, "the block at thread %zu, address %#llx has been freed already",
                thread, static_cast<unsigned long long>(block));
  }
  if (!fits || id != make_id(block, kind, owner, allocated)) {
    ncupc_error(file, line, call, "thread %zu, address %#llx is not a block of the shared heap",
                thread, static_cast<unsigned long long>(block));
  }
  return id;
}

}  // namespace

void heap_free(const char* file, int line, const char* call, ncupc_ptr p) {
  if (ncupc_is_null(p)) return;
  // completes this thread's writes to the block before it is reused, and its id, if this thread has
  // just set it
  release();
  const uint64_t id = check(file, line, call, p);
  const uint64_t block = ncupc_address(p);
  const Kind kind = kind_of(id);
  const size_t owner = owner_of(id);
  const uint64_t gone = make_id(block, kind, owner, freed);
  if (kind == local && owner == me()) {
    runtime.heap.pools[local].id(block) = gone;
    runtime.heap.pools[local].free(block);
    return return_local();
  }
  if (word_compare_swap(ncupc_thread(p), block - 16, id, gone) != id) check(file, line, call, p);
  if (owner == me()) {
    runtime.heap.pools[kind].free(block);
  } else {
    hand_back(owner, block, kind);
  }
}

void heap_start() {
  for (Pool& pool : runtime.heap.pools) pool.start(runtime.arena);
  heap_start_ends(static_cast<uint32_t>(runtime.heap_start / heap_page),
                  static_cast<uint32_t>(runtime.arena_bytes / heap_page));
}

uint64_t heap_allocate_local(size_t bytes) {
  const uint64_t block = allocate(local, bytes);
  if (block != 0) runtime.heap.pools[local].id(block) = make_id(block, local, me(), allocated);
  return block;
}

}  // namespace nearcache::upc

using namespace nearcache::upc;

extern "C" {

ncupc_ptr ncupc_alloc(const char* file, int line, size_t bytes) {
  return allocate_local(file, line, "upc_alloc", bytes);
}

ncupc_ptr ncupc_local_alloc(const char* file, int line, size_t blocks, size_t bytes) {
  size_t total = 0;
  if (__builtin_mul_overflow(blocks, bytes, &total)) total = SIZE_MAX;
  return allocate_local(file, line, "upc_local_alloc", total);
}

ncupc_ptr ncupc_global_alloc(const char* file, int line, size_t blocks, size_t bytes) {
  return allocate_global(file, line, "upc_global_alloc",
                         share(file, line, "upc_global_alloc", blocks, bytes));
}

// Thread 0 allocates; the others learn the result in the barrier.
ncupc_ptr ncupc_all_alloc(const char* file, int line, size_t blocks, size_t bytes) {
  const size_t total = share(file, line, "upc_all_alloc", blocks, bytes);
  const uint64_t block =
      me() == 0 ? ncupc_address(allocate_global(file, line, "upc_all_alloc", total)) : 0;
  return ncupc_make(internal_barrier(block), 0, 0);
}

void ncupc_free(const char* file, int line, ncupc_ptr p) { heap_free(file, line, "upc_free", p); }

void ncupc_all_free(const char* file, int line, ncupc_ptr p) {
  internal_barrier(0);
  if (me() == 0) heap_free(file, line, "upc_all_free", p);
}

}  // extern "C"
