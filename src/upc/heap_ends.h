// SPDX-License-Identifier: BSD-3-Clause

// The two ends of the heap: page numbers in one word per thread, changed together by
// compare-and-swap, so that they never overlap.
#pragma once

#include <cstdint>

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

// Initialises this thread's word: pages [first, end) are free.
void heap_start_ends(uint32_t first, uint32_t end);

uint32_t heap_local_begin();    // of this thread
uint32_t heap_global_end();     // according to thread 0
uint32_t heap_pages_between();  // free pages of this thread

// Take `pages` more pages and return the first of them; 0 if there is no room. Local pages concern
// this thread's word only. Global pages are the same on all threads: thread 0's word decides who
// gets which, the others' words follow.
uint64_t heap_take_local(uint32_t pages);
uint64_t heap_take_global(uint32_t pages);

// Give back the lowest pages of local memory, or the pages of global memory just below `end`. The
// latter stay taken if another thread has since taken pages beyond them.
void heap_give_local(uint32_t pages);
void heap_give_global(uint32_t end, uint32_t pages);

}  // namespace nearcache::upc
#pragma GCC visibility pop
