// SPDX-License-Identifier: BSD-3-Clause
#include "upc/heap_ends.h"

#include "upc/internal.h"

namespace nearcache::upc {
namespace {

size_t me() { return static_cast<size_t>(ncupc_mythread); }

struct Ends {
  uint32_t global_end, local_begin;  // pages
};
Ends ends_of(uint64_t word) {
  return {static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32)};
}
uint64_t word_of(Ends ends) {
  return static_cast<uint64_t>(ends.local_begin) << 32 | ends.global_end;
}

// Raises the global end of `thread` to at least `page`. Returns the old value, or 0 if local memory
// is in the way.
uint32_t raise_global_end(size_t thread, uint32_t page) {
  uint64_t word = word_fetch(thread, NCUPC_CONTROL(heap));
  for (;;) {
    const Ends ends = ends_of(word);
    if (ends.global_end >= page) return ends.global_end;
    if (ends.local_begin < page) return 0;
    const uint64_t was =
        word_compare_swap(thread, NCUPC_CONTROL(heap), word, word_of({page, ends.local_begin}));
    if (was == word) return ends.global_end;
    word = was;
  }
}

// Undoes that, unless another thread has taken pages beyond it.
void lower_global_end(size_t thread, uint32_t from, uint32_t to) {
  uint64_t word = word_fetch(thread, NCUPC_CONTROL(heap));
  while (ends_of(word).global_end == from) {
    const uint64_t was = word_compare_swap(thread, NCUPC_CONTROL(heap), word,
                                           word_of({to, ends_of(word).local_begin}));
    if (was == word) return;
    word = was;
  }
}

}  // namespace

void heap_start_ends(uint32_t first, uint32_t end) {
  *reinterpret_cast<uint64_t*>(runtime.arena + NCUPC_CONTROL(heap)) = word_of({first, end});
}

uint32_t heap_local_begin() { return ends_of(own_word(NCUPC_CONTROL(heap))).local_begin; }
uint32_t heap_global_end() { return ends_of(word_fetch(0, NCUPC_CONTROL(heap))).global_end; }

uint32_t heap_pages_between() {
  const Ends ends = ends_of(word_fetch(me(), NCUPC_CONTROL(heap)));
  return ends.local_begin - ends.global_end;
}

uint64_t heap_take_local(uint32_t pages) {
  uint64_t word = word_fetch(me(), NCUPC_CONTROL(heap));
  for (;;) {
    const Ends ends = ends_of(word);
    if (ends.local_begin - ends.global_end < pages) return 0;
    const uint64_t was = word_compare_swap(me(), NCUPC_CONTROL(heap), word,
                                           word_of({ends.global_end, ends.local_begin - pages}));
    if (was == word) return ends.local_begin - pages;
    word = was;
  }
}

uint64_t heap_take_global(uint32_t pages) {
  uint64_t word = word_fetch(0, NCUPC_CONTROL(heap));
  uint32_t begin = 0;
  for (;;) {
    const Ends ends = ends_of(word);
    begin = ends.global_end;
    if (ends.local_begin - begin < pages) return 0;
    const uint64_t was =
        word_compare_swap(0, NCUPC_CONTROL(heap), word, word_of({begin + pages, ends.local_begin}));
    if (was == word) break;
    word = was;
  }
  const size_t threads = static_cast<size_t>(ncupc_threads);
  for (size_t thread = 1; thread < threads; ++thread) {
    if (raise_global_end(thread, begin + pages) != 0) continue;
    while (thread-- > 0) lower_global_end(thread, begin + pages, begin);
    return 0;
  }
  return begin;
}

void heap_give_local(uint32_t pages) {
  uint64_t word = own_word(NCUPC_CONTROL(heap));
  for (;;) {
    const Ends ends = ends_of(word);
    const uint64_t was = word_compare_swap(me(), NCUPC_CONTROL(heap), word,
                                           word_of({ends.global_end, ends.local_begin + pages}));
    if (was == word) return;
    word = was;
  }
}

void heap_give_global(uint32_t end, uint32_t pages) {
  for (size_t thread = static_cast<size_t>(ncupc_threads); thread-- > 0;)
    lower_global_end(thread, end, end - pages);
}

}  // namespace nearcache::upc
