// SPDX-License-Identifier: BSD-3-Clause
#include "cache/page/page_pool.h"

#include <bit>
#include <initializer_list>

namespace nearcache {
namespace {

size_t head_count(size_t frames) { return std::bit_ceil(2 * frames); }
size_t ghost_count(size_t frames) { return std::bit_ceil(frames); }
constexpr size_t to_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

size_t PagePool::bytes(size_t frames) {
  return (frames + 1) * sizeof(Page) + to_lines(head_count(frames) * sizeof(uint32_t)) +
         to_lines(ghost_count(frames) * sizeof(uint64_t));
}

void PagePool::create(void* memory, size_t frames) {
  frames_ = frames;
  pages_ = static_cast<Page*>(memory);
  heads_ = reinterpret_cast<Published<uint32_t>*>(pages_ + frames + 1);
  const size_t heads = head_count(frames);
  ghosts_ = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(heads_) +
                                        to_lines(heads * sizeof(uint32_t)));
  shift_ = 64 - std::countr_zero(heads);
  ghost_slots_ = ghost_count(frames);
  in_limit_ = frames / 4 > 0 ? frames / 4 : 1;
  for (size_t i = 0; i < heads; ++i) heads_[i] = static_cast<uint32_t>(frames);
  Page& end = pages_[frames];
  end.number = UINT64_MAX;  // not the quotient of any address and a page size
  end.pe = -1;
  end.chain = none;
}

void PagePool::create_empty() {
  static Published<uint32_t> heads[2];
  static Page end = [] {
    Page page{};
    page.number = UINT64_MAX;
    page.pe = -1;
    page.chain = none;
    return page;
  }();
  heads_ = heads;
  pages_ = &end;
  frames_ = 0;
  shift_ = 63;
}

Page* PagePool::find(int pe, uint64_t number) const {
  for (uint32_t i = heads_[hash(pe, number)]; i != frames_; i = pages_[i].chain) {
    Page& page = pages_[i];
    if (page.number == number && page.pe == pe) return &page;
  }
  return nullptr;
}

uint32_t PagePool::victim(bool* used) {
  *used = false;
  if (free_.oldest != none) return free_.oldest;
  if (never_used_ < frames_) {
    push(free_, never_used_);
    return never_used_++;
  }
  *used = true;
  if (in_.length >= in_limit_ || main_.length == 0) return in_.oldest;
  return clock_victim();
}

// Returns the oldest page of Am that was not used since the hand last passed; used ones get another
// round. Terminates, since it clears the flags on its way.
uint32_t PagePool::clock_victim() {
  while (pages_[main_.oldest].referenced.load() != 0) {
    const uint32_t frame = main_.oldest;
    pages_[frame].referenced = 0;
    unlink(main_, frame);
    push(main_, frame);
  }
  return main_.oldest;
}

void PagePool::remove(uint32_t frame) {
  Page& page = pages_[frame];
  Published<uint32_t>* link = &heads_[hash(page.pe, page.number)];
  while (*link != frame) link = &pages_[*link].chain;
  *link = page.chain;
  if (page.queue == in) {
    remember(page.pe, page.number);
    unlink(in_, frame);
  } else {
    unlink(main_, frame);
  }
  page.queue = unused;
  page.number = UINT64_MAX;
  page.quick = page.valid = page.pending = page.ahead = 0;
  removals_ = removals_ + 1;
  bytes_follow();  // before those of the frame's next page
  push(free_, frame);
}

Page& PagePool::insert(uint32_t frame, int pe, uint64_t number) {
  unlink(free_, frame);
  Page& page = pages_[frame];
  page.quick = page.valid = page.pending = page.ahead = 0;
  page.pe = pe;
  page.number = number;  // last: a lock-free reader that sees it also sees the stores above
  page.written = 0;
  page.referenced = 0;
  page.queue = remembered(pe, number) ? main : in;
  push(page.queue == in ? in_ : main_, frame);
  Published<uint32_t>& head = heads_[hash(pe, number)];
  page.chain = head;
  head = frame;
  return page;
}

void PagePool::push(List& list, uint32_t frame) {
  Page& page = pages_[frame];
  page.newer = none;
  page.older = list.newest;
  if (list.newest != none) pages_[list.newest].newer = frame;
  list.newest = frame;
  if (list.oldest == none) list.oldest = frame;
  ++list.length;
}

void PagePool::unlink(List& list, uint32_t frame) {
  Page& page = pages_[frame];
  (page.newer != none ? pages_[page.newer].older : list.newest) = page.older;
  (page.older != none ? pages_[page.older].newer : list.oldest) = page.newer;
  --list.length;
}

// A name is stored as its hash (slot and 32 other bits) with the time when it entered: A1out holds
// the names of the last half as many entries as there are frames.
void PagePool::remember(int pe, uint64_t number) {
  const uint64_t name = page_name(pe, number) * 0xD6E8FEB86659FD93u;
  ghosts_[(name >> 20) & (ghost_slots_ - 1)] = (name & 0xFFFFFFFF00000000u) | ++ghost_clock_;
}

bool PagePool::remembered(int pe, uint64_t number) const {
  const uint64_t name = page_name(pe, number) * 0xD6E8FEB86659FD93u;
  const uint64_t ghost = ghosts_[(name >> 20) & (ghost_slots_ - 1)];
  if (ghost == 0 || ((ghost ^ name) >> 32) != 0) return false;
  return ghost_clock_ - static_cast<uint32_t>(ghost) < frames_ / 2 + 1;
}

const char* PagePool::broken() const {
  size_t chained = 0;
  for (size_t h = 0; h < head_count(frames_); ++h) {
    for (uint32_t i = heads_[h]; i != frames_; i = pages_[i].chain) {
      if (i > frames_) return "10: a chain leads nowhere";
      if (++chained > frames_) return "10: a chain has a circle";
      if (hash(pages_[i].pe, pages_[i].number) != h)
        return "10: a page stands in another page's chain";
      if (pages_[i].queue == unused) return "10: an unused frame is in a chain";
    }
  }
  if (chained != in_.length + main_.length)
    return "10: chains and queues hold different numbers of pages";
  size_t listed = 0;
  for (const List* list : {&free_, &in_, &main_}) {
    size_t length = 0;
    for (uint32_t i = list->oldest; i != none; i = pages_[i].newer)
      if (++length > frames_) return "10: a queue has a circle";
    if (length != list->length) return "10: a queue's length is wrong";
    listed += length;
  }
  return listed == never_used_ ? nullptr : "10: a frame is in no queue";
}

}  // namespace nearcache
