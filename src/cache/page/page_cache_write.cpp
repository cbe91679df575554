// SPDX-License-Identifier: BSD-3-Clause

// Page cache, the path to the network: written bytes, write-back, and accesses that bypass the
// cache.
#include <algorithm>
#include <bit>

#include "base/copy.h"
#include "cache/page/page_cache.h"

namespace nearcache {

// Issues a small put at once, bypassing the pages, if it is one of many scattered ones and its page
// has no written bytes. Updates the line if it is cached. Returns true if the put was issued.
bool PageCache::put_around(int pe, uint64_t address, const void* from, size_t bytes) {
  const uint64_t number = address >> page_shift_, end = address + bytes;
  if (bytes > line_bytes() || (end - 1) >> page_shift_ != number) return false;
  Page* page = current(pe, number);
  if (page != nullptr && page->written != 0) return false;
  if (!scattered_puts_.passes(pe, number)) return false;
  if (unfenced_.may_overlap(pe, address, end)) fence();
  lose(pe, address, end);
  transport_->put(address, from, bytes, pe);
  puts_flying_ = true;
  ++counters_.puts;
  counters_.put_bytes += bytes;
  ++counters_.network_puts;
  counters_.network_put_bytes += bytes;
  if (page != nullptr) write_through(*page, address & page_mask_, from, bytes);
  return true;
}

// Writes to lines that are cached what has been put already. Lines that are not valid are dropped
// and fetched after the put.
void PageCache::write_through(Page& page, size_t offset, const void* from, size_t bytes) {
  const uint64_t lines = lines_of(offset, offset + bytes);
  if ((page.valid & lines) == lines) {
    store_bytes(frame(page) + offset, from, bytes);
    page.referenced = 1;
  } else {
    drop_lines(page.pe, address_of(page) + offset, bytes);
  }
}

// Gives `page` a write mask. If none is free, the page that was first written longest ago gives up
// its mask.
void PageCache::attach(Page& page) {
  if (masks_.full()) {
    Page& oldest = pool_[masks_[masks_.oldest()].page];
    scattered_puts_.gave_up(written(oldest).high - written(oldest).low == 1);
    write_back(oldest);
    detach(oldest);
  }
  const auto mask = static_cast<int16_t>(masks_.take(pool_.index_of(page)));
  const bool whole = transport_->may_cache(address_of(page), page_bytes());
  page.written = whole ? mask : static_cast<int16_t>(mask | Page::not_quick);
}

// pre: no byte of the page is dirty.
void PageCache::detach(Page& page) {
  if (page.written == 0) return;
  promote(page);
  lose_flying(page);
  release_mask(page);
}

// Turns the page's bytes in flight into lost ones. Data being fetched for their lines may be older
// and must not overwrite them once the mask is gone, so these lines are no longer pending.
void PageCache::lose_flying(Page& page) {
  ByteMask mask = flying(written(page));
  for (size_t at = mask.next_set(0); at < page_bytes();) {
    const size_t end = mask.next_unset(at);
    lose(page.pe, address_of(page) + at, address_of(page) + end);
    page.pending &= ~lines_of(at, end);
    at = end < page_bytes() ? mask.next_set(end) : end;
  }
  mask.clear_all();
}

// Returns the page's mask if it has no written bytes left.
void PageCache::release_mask(Page& page) {
  if (masks_.give_back(mask_number(page))) page.written = 0;
}

// Lines that were written completely since the last acquire become valid, as if fetched.
void PageCache::promote(Page& page) {
  if (page.epoch != epoch_) return;
  Mask& m = written(page);
  for (size_t line = m.low * 64u / line_bytes() * line_bytes(); line < m.high * 64u;
       line += line_bytes()) {
    const size_t end = line + line_bytes();
    size_t at = line;
    for (size_t next = at; at < end; at = next) {
      next = masks_.written_to(m, at);
      if (next == at) break;
    }
    if (at < end) continue;
    const uint64_t bit = lines_of(line, line + 1);
    if ((page.valid & bit) == 0) ++valid_lines_;
    page.valid |= bit;
    page.pending &= ~bit;
    page.ahead &= ~bit;
  }
  page.quick = page.valid & ~page.ahead;
}

void PageCache::write_back(Page& page) {
  const ByteMask mask = dirty(written(page));
  for (size_t at = mask.next_set(0); at < page_bytes(); at = mask.next_set(at))
    write_back_run(page, at, mask.next_unset(at));
}

// Issues one put for a run of dirty bytes together with adjoining ones in the pages before and
// after, as long as the run fits the staging area.
void PageCache::write_back_run(Page& page, size_t begin, size_t end) {
  uint64_t first = address_of(page) + begin, last = address_of(page) + end;
  const auto adjoining = [&](uint64_t address) -> Page* {
    Page* other = pool_.find(page.pe, address >> page_shift_);
    return other != nullptr && other->written != 0 &&
                   dirty(written(*other)).test(address & page_mask_)
               ? other
               : nullptr;
  };
  while ((first & page_mask_) == 0 && first != 0) {
    const Page* before = adjoining(first - 1);
    if (before == nullptr) break;
    const size_t run = dirty(written(*before)).run_begin(page_bytes());
    if (last - (address_of(*before) + run) > staging_bytes_) break;
    first = address_of(*before) + run;
  }
  while ((last & page_mask_) == 0) {
    const Page* after = adjoining(last);
    if (after == nullptr) break;
    const uint64_t run_end = last + dirty(written(*after)).next_unset(0);
    if (run_end - first > staging_bytes_) break;
    last = run_end;
  }
  send(page.pe, first, last);
}

// Puts [begin, end), all of it dirty.
void PageCache::send(int pe, uint64_t begin, uint64_t end) {
  const size_t bytes = static_cast<size_t>(end - begin);
  const bool across = begin >> page_shift_ != (end - 1) >> page_shift_;
  bool again = unfenced_.may_overlap(pe, begin, end);
  const char* from = sent_;
  for (uint64_t at = begin; at < end;) {
    const size_t offset = at & page_mask_;
    const size_t piece = static_cast<size_t>(std::min<uint64_t>(end - at, page_bytes() - offset));
    Page& page = *pool_.find(pe, at >> page_shift_);
    Mask& m = written(page);
    again = again || flying(m).any(offset, offset + piece);
    dirty(m).clear(offset, offset + piece);
    flying(m).set(offset, offset + piece);
    if (across) {
      copy_bytes(sent_ + (at - begin), frame(page) + offset, piece);
    } else {
      from = frame(page) + offset;
    }
    at += piece;
  }
  if (again) fence();
  transport_->put(begin, from, bytes, pe);
  puts_flying_ = true;
  ++counters_.network_puts;
  counters_.network_put_bytes += bytes;
}

void PageCache::fence() {
  ++counters_.fences;
  transport_->fence();
  unfenced_.clear();
}

// Records that the range is in flight and held by no page.
void PageCache::lose(int pe, uint64_t begin, uint64_t end) {
  lost_.add(pe, begin, end);
  unfenced_.add(pe, begin, end);
}

// A program that reads over and over may be waiting for the answer to what it wrote, so written
// bytes must not be held back forever.
void PageCache::count_read() {
  if (++network_reads_ % reads_a_write_back == 0) suspect_wait();
}

void PageCache::suspect_wait() {
  ++waits_suspected_;
  start_write_back();
}

void PageCache::start_write_back() {
  if (!maybe_dirty_) return;
  for (uint32_t i = masks_.oldest(); i != 0; i = masks_[i].newer) write_back(pool_[masks_[i].page]);
  maybe_dirty_ = false;
}

void PageCache::release() {
  ++counters_.releases;
  start_write_back();
  if (in_flight()) complete();
}

// Calls action(page, begin, end) for every page with written bytes, with the part of [address, end)
// that lies in it. The action may release the page's mask. `pe` < 0: pages of every PE.
template <class Action>
void PageCache::each_written(int pe, uint64_t address, uint64_t end, Action action) {
  for (uint32_t i = masks_.oldest(); i != 0;) {
    Page& page = pool_[masks_[i].page];
    i = masks_[i].newer;
    const uint64_t base = address_of(page);
    if ((pe >= 0 && page.pe != pe) || base >= end || base + page_bytes() <= address) continue;
    action(page, static_cast<size_t>(std::max(address, base) - base),
           static_cast<size_t>(std::min<uint64_t>(end - base, page_bytes())));
  }
}

// Returns true if a put to the range is in flight, according to `lost` (one of the two sets) or to
// a page.
bool PageCache::under_way(const InFlight& lost, int pe, uint64_t begin, uint64_t end) {
  bool found = lost.may_overlap(pe, begin, end);
  if (puts_flying_ && !found)
    each_written(pe, begin, end, [&](Page& page, size_t from, size_t to) {
      found = found || flying(written(page)).any(from, to);
    });
  return found;
}

void PageCache::before_direct_get(int pe, uint64_t address, size_t bytes) {
  if (data_ == nullptr) return;
  count_read();
  const uint64_t end = address + bytes;
  each_written(pe, address, end, [&](Page& page, size_t from, size_t to) {
    if (dirty(written(page)).any(from, to)) write_back(page);
  });
  if (under_way(lost_, pe, address, end)) complete();
}

void PageCache::before_direct_put(int pe, uint64_t address, size_t bytes) {
  if (data_ == nullptr) return;
  const uint64_t end = address + bytes;
  if (under_way(unfenced_, pe, address, end)) fence();
  each_written(pe, address, end, [&](Page& page, size_t from, size_t to) {
    dirty(written(page)).clear(from, to);
    flying(written(page)).clear(from, to);
    release_mask(page);
  });
  drop_lines(pe, address, bytes);
  lose(pe, address, end);
}

// Puts what was written to the range and orders it before what follows; drops the range from the
// cache. Returns true if something was in flight to it.
bool PageCache::make_way(int pe, uint64_t address, size_t bytes) {
  const uint64_t end = address + bytes;
  each_written(pe, address, end, [&](Page& page, size_t from, size_t to) {
    if (dirty(written(page)).any(from, to)) write_back(page);
  });
  const bool found = under_way(unfenced_, pe, address, end);
  if (found) {
    fence();
    each_written(pe, address, end, [&](Page& page, size_t from, size_t to) {
      flying(written(page)).clear(from, to);
      release_mask(page);
    });
  }
  drop_lines(pe, address, bytes);
  return found;
}

void PageCache::before_direct_update(int pe, uint64_t address, size_t bytes) {
  if (data_ == nullptr) return;
  make_way(pe, address, bytes);
  lose(pe, address, address + bytes);
}

void PageCache::not_issued_yet(int pe, uint64_t address, size_t bytes) {
  if (data_ != nullptr) lose(pe, address, address + bytes);
}

// Earlier puts are delivered before the atomic, so they are complete when it returns. But only the
// standard promises that, and such puts are rare, so the range is still recorded as in flight.
void PageCache::before_direct_fetch(int pe, uint64_t address, size_t bytes) {
  if (data_ == nullptr) return;
  if (make_way(pe, address, bytes)) lose(pe, address, address + bytes);
}

// Dirty bytes will be put after the change. Bytes in flight may be delivered before or after it:
// they are fetched again when their put is complete.
void PageCache::overtaken(int pe, uint64_t address, size_t bytes) {
  if (data_ == nullptr) return;
  each_written(pe, address, address + bytes, [&](Page& page, size_t from, size_t to) {
    if (!flying(written(page)).any(from, to)) return;
    flying(written(page)).clear(from, to);
    lose(pe, address_of(page) + from, address_of(page) + to);
    release_mask(page);
  });
  drop_lines(pe, address, bytes);
}

void PageCache::forget(uint64_t address, size_t bytes) {
  if (data_ == nullptr || bytes == 0) return;
  each_written(-1, address, address + bytes, [&](Page& page, size_t from, size_t to) {
    Mask& m = written(page);
    if (flying(m).any(from, to)) lose(page.pe, address_of(page) + from, address_of(page) + to);
    dirty(m).clear(from, to);
    flying(m).clear(from, to);
    release_mask(page);
  });
  if (masks_.empty()) maybe_dirty_ = false;
  drop_lines(-1, address, bytes);
}

bool PageCache::dirty() const { return maybe_dirty_; }

}  // namespace nearcache
