// The two ends of the heap: page numbers in one word of each thread, changed together by
// compare-and-swap, so that they never meet.
#pragma once

#include <cstdint>

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

// This thread's word at the start: pages [first, end) are free.
void heap_start_ends(uint32_t first, uint32_t end);

uint32_t heap_local_begin();    // of this thread
uint32_t heap_global_end();     // as thread 0 has it
uint32_t heap_pages_between();  // free pages of this thread

// The page where `pages` more memory begin, 0: no room. Local: this thread's word only. Global: the
// same pages of all threads; thread 0's word says who gets which, the others' follow.
uint64_t heap_take_local(uint32_t pages);
uint64_t heap_take_global(uint32_t pages);

// The lowest pages of local memory, or those of global memory below `end`, are free again. The
// latter stay taken where another thread has gone on from there.
void heap_give_local(uint32_t pages);
void heap_give_global(uint32_t end, uint32_t pages);

}  // namespace nearcache::upc
#pragma GCC visibility pop
