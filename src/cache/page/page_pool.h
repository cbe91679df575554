// Which pages are cached and which one goes: an index by (PE, page number) and 2Q replacement.
//
// 2Q (Johnson and Shasha, VLDB 1994, the full version): a page first seen enters A1in, a
// first-in-first-out queue of a quarter of the frames; leaving it, it is remembered in A1out, half
// as many names as frames; seen again while its name is there, it enters Am. Am is a clock instead
// of a least-recently-used list: a hit then only sets a flag, and moves nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/page/published.h"
#include "cache/page/recent_pages.h"

namespace nearcache {

struct Page {
  Published<uint64_t> number;  // address / page size
  // lines that a hit may serve at once: valid and not ahead
  Published<uint64_t> quick;
  uint64_t valid;    // lines fetched since the page's last acquire
  uint64_t pending;  // lines on their way into the staging area
  // valid lines that were fetched before they were asked for, and not asked for since
  uint64_t ahead;
  Published<uint32_t> epoch;  // the acquire after which all this holds
  Published<int32_t> pe;
  Published<uint32_t> chain;  // next page with this hash
  uint32_t newer, older;      // in its queue
  uint16_t written;           // its write mask, counted from 1; 0: no byte is written
  uint8_t queue;
  // read or written since the clock's hand last passed; set without the lock, too
  Published<uint8_t> referenced;
};
static_assert(sizeof(Page) == 64, "a page's state is one line of the processor's cache");

class PagePool {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  // Bytes of the region that `frames` pages' states take.
  static size_t bytes(size_t frames);
  // pre: `memory` has that many bytes, all zero, aligned to 64.
  void create(void* memory, size_t frames);

  // Without memory: finds nothing, and must not be asked to insert.
  void create_empty();

  size_t frames() const { return frames_; }
  size_t in_queue_limit() const { return in_limit_; }
  Page& operator[](uint32_t i) { return pages_[i]; }
  const Page& operator[](uint32_t i) const { return pages_[i]; }
  uint32_t index_of(const Page& page) const { return static_cast<uint32_t>(&page - pages_); }

  // The page most likely meant: the head of its chain, which need not be it. One multiplication and
  // two loads.
  Page& likely(int pe, uint64_t number) const { return pages_[heads_[hash(pe, number)]]; }
  Page* find(int pe, uint64_t number) const;

  // Without the lock. The page is what was looked for if no page was removed from before the search
  // until whatever was wanted of it is read. May find nothing where there is one.
  Page* find_unlocked(int pe, uint64_t number) const {
    uint32_t i = heads_[hash(pe, number)].load();
    for (int steps = 0; i != frames_ && steps < longest_walk; ++steps) {
      Page& page = pages_[i];
      if (page.number.load() == number && page.pe.load() == pe) return &page;
      i = page.chain.load();
    }
    return nullptr;
  }
  // How many pages were removed.
  uint64_t removals_unlocked() const { return removals_.load(); }

  // Whether a new page pushes out another one.
  bool full() const { return never_used_ == frames_ && free_.oldest == none; }
  // The frame that the next new page takes. If `used`, its page must be emptied and removed first.
  uint32_t victim(bool* used);
  void remove(uint32_t frame);
  // A new, empty page in a frame that is not used. pre: it is not cached.
  Page& insert(uint32_t frame, int pe, uint64_t number);

  const char* broken() const;

 private:
  enum Queue : uint8_t { unused, in, main };  // a frame's; `in` is A1in, `main` is Am
  // Without the lock a chain may change while it is followed, and lead round. Hardly any is longer:
  // there are two heads for each page.
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

  // frames_ of them and a last one that is never used, where empty chains end
  Page* pages_ = nullptr;
  Published<uint32_t>* heads_ = nullptr;
  uint64_t* ghosts_ = nullptr;  // A1out: by hash, the name's other bits and when it came
  size_t frames_ = 0;
  int shift_ = 0;
  Published<uint64_t> removals_;
  size_t ghost_slots_ = 0;
  uint32_t ghost_clock_ = 0;
  size_t in_limit_ = 0;
  uint32_t never_used_ = 0;  // frames from here on were never used
  List free_, in_, main_;
};

}  // namespace nearcache
