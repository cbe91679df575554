// SPDX-License-Identifier: BSD-3-Clause

// The set of cached pages and the choice of victims: an index by (PE, page number) and 2Q
// replacement.
//
// 2Q (Johnson and Shasha, VLDB 1994, the full version): a new page enters A1in, a FIFO queue of a
// quarter of the frames. When it leaves A1in, its name is kept in A1out, which holds half as many
// names as there are frames. A page that is requested again while its name is in A1out enters Am.
// Here Am is a clock instead of an LRU list, so that a hit only sets a flag and moves nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/page/recent_pages.h"
#include "cache/published.h"

namespace nearcache {

struct Page {
  static constexpr int16_t not_quick = INT16_MIN;  // in `written`

  Published<uint64_t> number;  // address / page size
  // lines that a hit may serve at once: valid and not ahead
  Published<uint64_t> quick;
  uint64_t valid;    // lines fetched (or written completely) since the last acquire
  uint64_t pending;  // lines being fetched into the staging area
  // valid lines that were fetched before they were requested, and not used yet
  uint64_t ahead;
  Published<uint32_t> epoch;  // the acquire since which the masks above hold
  Published<int32_t> pe;
  Published<uint32_t> chain;  // next page in the chain of its hash
  uint32_t newer, older;      // neighbours in its queue
  // number of its write mask, counted from 1; 0: no byte is written. With not_quick, which makes it
  // negative, parts of the page must not be cached, so no put may take the fast path
  int16_t written;
  uint8_t queue;
  // read or written since the clock's hand last passed; may be set without the lock
  Published<uint8_t> referenced;
};
static_assert(sizeof(Page) == 64, "a page's state is one line of the processor's cache");

class PagePool {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  // Returns the number of bytes that the state of `frames` pages occupies.
  static size_t bytes(size_t frames);
  // pre: `memory` has bytes(frames) bytes, all zero, aligned to 64.
  void create(void* memory, size_t frames);

  // Creates a pool without frames or memory: it finds nothing, and insert() must not be called.
  void create_empty();

  size_t frames() const { return frames_; }
  size_t in_queue_limit() const { return in_limit_; }
  Page& operator[](uint32_t i) { return pages_[i]; }
  const Page& operator[](uint32_t i) const { return pages_[i]; }
  uint32_t index_of(const Page& page) const { return static_cast<uint32_t>(&page - pages_); }

  // Returns the most likely page, the head of its chain; the caller must check that it is the right
  // one. One multiplication and two loads.
  Page& likely(int pe, uint64_t number) const { return pages_[heads_[hash(pe, number)]]; }
  Page* find(int pe, uint64_t number) const;

  // Like find(), without the lock. The result is valid only if removals_unlocked() returns the same
  // value before the search and after the page has been read. May miss a page that is cached.
  Page* find_unlocked(int pe, uint64_t number) const {
    uint32_t i = heads_[hash(pe, number)].load();
    for (int steps = 0; i != frames_ && steps < longest_walk; ++steps) {
      Page& page = pages_[i];
      if (page.number.load() == number && page.pe.load() == pe) return &page;
      i = page.chain.load();
    }
    return nullptr;
  }
  // Returns the number of removals so far.
  uint64_t removals_unlocked() const { return removals_.load(); }

  // Returns true if inserting a new page evicts another one.
  bool full() const { return never_used_ == frames_ && free_.oldest == none; }
  // Returns the frame that the next new page gets. If `*used`, its page must be emptied and removed
  // first.
  uint32_t victim(bool* used);
  void remove(uint32_t frame);
  // Inserts a new, empty page into a frame that is not used. pre: the page is not cached.
  Page& insert(uint32_t frame, int pe, uint64_t number);

  const char* broken() const;

 private:
  enum Queue : uint8_t { unused, in, main };  // the queue of a frame; `in` is A1in, `main` is Am
  // A chain may change while it is followed without the lock, and may even become a cycle. Few
  // chains are longer than this, since there are two heads per page.
  static constexpr int longest_walk = 8;
  struct List {
    uint32_t newest = none, oldest = none;
    size_t length = 0;
  };

  size_t hash(int pe, uint64_t number) const {
    return static_cast<size_t>((page_name(pe, number) * 0x9E3779B97F4A7C15u) >> shift_);
  }
  void push(List& list, uint32_t frame);
  void unlink(List& list, uint32_t frame);
  uint32_t clock_victim();
  void remember(int pe, uint64_t number);
  bool remembered(int pe, uint64_t number) const;

  // frames_ of them, and a last one that is never used and terminates every chain
  Page* pages_ = nullptr;
  Published<uint32_t>* heads_ = nullptr;
  uint64_t* ghosts_ = nullptr;  // A1out, by hash: the other bits of the name, and its age
  size_t frames_ = 0;
  int shift_ = 0;
  Published<uint64_t> removals_;
  size_t ghost_slots_ = 0;
  uint32_t ghost_clock_ = 0;
  size_t in_limit_ = 0;
  uint32_t never_used_ = 0;  // frames from this one on were never used
  List free_, in_, main_;
};

}  // namespace nearcache
