// SPDX-License-Identifier: BSD-3-Clause

// Page cache, the path from the network: demand fetches and fetches ahead.
#include <algorithm>
#include <bit>

#include "base/copy.h"
#include "base/round.h"
#include "cache/page/page_cache.h"

namespace nearcache {

// Returns the lines that contain any of `bytes`. A line at the end of `around` is cut there and
// still counts as whole, since no more of it can be read.
Extent PageCache::lines_around(const Extent& bytes, const Extent& around) const {
  const uint64_t line = line_bytes();
  return {std::max(round_down(bytes.begin, line), around.begin),
          std::min(round_up(bytes.end, line), around.end)};
}

// Returns the whole lines in `bytes`; the result is empty, or even negative, if there are none.
Extent PageCache::whole_lines(const Extent& bytes, const Extent& around) const {
  const uint64_t line = line_bytes();
  return {bytes.begin <= around.begin ? around.begin : round_up(bytes.begin, line),
          bytes.end >= around.end ? around.end : round_down(bytes.end, line)};
}

// At most half of A1in at once, so that the last pages of a fetch do not evict its first; at least
// one page.
uint64_t PageCache::longest_fetch() const {
  return std::min<uint64_t>(staging_bytes_, std::max<uint64_t>(pool_.in_queue_limit() / 2, 1)
                                                << page_shift_);
}

// Fetches [begin, end), which lies in one page, and as much as fits of what follows up to
// `wanted_end`. Returns false if the range cannot be cached.
bool PageCache::fetch(int pe, uint64_t begin, uint64_t end, uint64_t wanted_end) {
  count_read();
  const size_t offset = begin & page_mask_;
  const uint64_t lines = lines_of(offset, offset + static_cast<size_t>(end - begin));
  Page* page = current(pe, begin >> page_shift_);
  if (page != nullptr && (page->pending & lines) != 0) {
    complete();
    return true;  // if it did not arrive, its lines are no longer pending
  }
  const Extent around = transport_->extent(begin, static_cast<size_t>(wanted_end - begin), pe);
  if (around.begin > begin || around.end < end) return false;
  const Extent piece = lines_around({begin, end}, around);
  const Extent demanded =
      lines_around({begin, std::min(wanted_end, begin + longest_fetch())}, around);
  const Readahead::Plan plan = readahead_.missed(pe, begin, demanded.begin, demanded.end,
                                                 page != nullptr && page->valid != 0);
  const uint64_t longest = longest_fetch();
  Extent all = plan.fetch;
  if (piece.end > longest) all.begin = std::max(all.begin, piece.end - longest);
  all.begin = std::max(all.begin, around.begin);
  all.end = std::min(all.end, all.begin + longest);
  all = whole_lines(all, around);
  all.end = std::max(all.end, piece.end);
  if (lost_.may_overlap(pe, all.begin, all.end)) {
    all = {piece.begin, std::max(piece.end, std::min(all.end, demanded.end))};
    if (lost_.may_overlap(pe, all.begin, all.end)) complete();
  }
  fetch_lines(pe, all, demanded);
  if (plan.strides > 0)
    fetch_strides(pe, {begin, std::min(wanted_end, demanded.end)}, around, plan.stride,
                  plan.strides);
  return true;
}

// Reads from the target and caches nothing.
void PageCache::get_past(int pe, uint64_t address, void* to, size_t bytes) {
  if (lost_.may_overlap(pe, address, address + bytes)) complete();
  transport_->get(to, address, bytes, pe);
  ++counters_.network_gets;
  counters_.network_get_bytes += bytes;
}

// Reads [begin, end), which lies in one page, and caches nothing. Bytes written here take
// precedence.
void PageCache::fetch_uncached(int pe, uint64_t begin, uint64_t end, char* to) {
  const size_t bytes = static_cast<size_t>(end - begin);
  get_past(pe, begin, to, bytes);
  const Page* page = current(pe, begin >> page_shift_);
  if (page == nullptr || page->written == 0) return;
  Mask& m = written(*page);
  const size_t offset = begin & page_mask_;
  for (size_t i = 0; i < bytes; ++i)
    if (masks_.written(m, offset + i)) to[i] = frame(*page)[offset + i];
}

void PageCache::fetch_strides(int pe, const Extent& access, const Extent& around, int64_t stride,
                              int strides) {
  for (int i = 1; i <= strides; ++i) {
    const auto distance = static_cast<uint64_t>(stride * i);
    const Extent next = lines_around({access.begin + distance, access.end + distance}, around);
    if (next.begin >= next.end) return;
    if (!fetch_ahead(pe, whole_lines(readahead_.near(next), around))) return;
  }
  ++counters_.readaheads;
}

// A blocking get of whole lines. It goes directly into the frame if one page holds all of them, has
// no written bytes, and cannot be read by another thread in the meantime.
void PageCache::fetch_lines(int pe, const Extent& lines, const Extent& demanded) {
  const size_t bytes = static_cast<size_t>(lines.end - lines.begin);
  const uint64_t number = lines.begin >> page_shift_;
  char* to = fetched_;
  Page* only = nullptr;
  if (number == (lines.end - 1) >> page_shift_) {
    only = &take(pe, number);
    if (only->written == 0 && !options_.unlocked_hits)
      to = frame(*only) + (lines.begin & page_mask_);
  }
  const double start = now_ns();
  transport_->get(to, lines.begin, bytes, pe);
  get_ns_ += now_ns() - start;
  ++counters_.timed_gets;
  ++counters_.network_gets;
  counters_.network_get_bytes += bytes;
  if (only != nullptr && to != fetched_) {
    arrived(*only, lines.begin & page_mask_, (lines.begin & page_mask_) + bytes, demanded);
    return;
  }
  for (uint64_t at = lines.begin; at < lines.end;) {
    const size_t offset = at & page_mask_;
    const size_t piece =
        static_cast<size_t>(std::min<uint64_t>(lines.end - at, page_bytes() - offset));
    Page& page = take(pe, at >> page_shift_);
    // Taking a page may have evicted another one of this fetch, whose written bytes were put only
    // then: the fetched data is older.
    if (lost_.may_overlap(pe, at, at + piece)) return;
    merge(page, offset, offset + piece, fetched_ + (at - lines.begin));
    arrived(page, offset, offset + piece, demanded);
    at += piece;
  }
}

// Marks lines of `page` as fetched: valid, and ahead if they were neither demanded nor valid
// before.
void PageCache::arrived(Page& page, size_t begin, size_t end, const Extent& demanded) {
  const uint64_t lines = lines_of(begin, end);
  const uint64_t base = address_of(page);
  const uint64_t from = std::max(demanded.begin, base),
                 to = std::min(demanded.end, base + page_bytes());
  const uint64_t asked =
      from < to ? lines_of(static_cast<size_t>(from - base), static_cast<size_t>(to - base)) : 0;
  const uint64_t ahead = lines & ~asked & ~page.valid;
  counters_.ahead_lines += static_cast<uint64_t>(std::popcount(ahead));
  page.ahead = (page.ahead | ahead) & ~(lines & asked);
  valid_lines_ += static_cast<uint64_t>(std::popcount(lines & ~page.valid));
  page.valid |= lines;
  page.pending &= ~lines;
  page.quick = page.valid & ~page.ahead;
  page.referenced = 1;
}

// Copies fetched bytes [begin, end) into a page, except where bytes have been written here.
void PageCache::merge(Page& page, size_t begin, size_t end, const char* from) {
  char* to = frame(page) + begin;
  if (page.written == 0) {
    store_bytes(to, from, end - begin);
    return;
  }
  Mask& m = written(page);
  for (size_t at = begin; at < end;) {
    const size_t kept_to = masks_.written_to(m, at);
    if (kept_to > at) {
      at = kept_to;
      continue;
    }
    const size_t fresh_to = std::min(masks_.next_written(m, at), end);
    store_bytes(to + (at - begin), from + (at - begin), fresh_to - at);
    at = fresh_to;
  }
}

// Returns true if a line is neither cached nor being fetched. pre: `line` is an address in it.
bool PageCache::wanted(int pe, uint64_t line) {
  const Page* page = current(pe, line >> page_shift_);
  if (page == nullptr) return true;
  const size_t begin = (line & page_mask_) >> line_shift_ << line_shift_;
  return (page->pending & lines_of(begin, begin + 1)) == 0 &&
         !known(*page, begin, begin + line_bytes());
}

// Starts fetching what is missing of `lines`. Returns false if there is no room, or if a write to
// them is in flight.
bool PageCache::fetch_ahead(int pe, Extent lines) {
  const uint64_t step = line_bytes();
  while (lines.begin < lines.end && !wanted(pe, lines.begin))
    lines.begin = lines.begin / step * step + step;
  while (lines.begin < lines.end && !wanted(pe, lines.end - 1))
    lines.end = (lines.end - 1) / step * step;
  if (lines.begin >= lines.end) return true;
  const size_t bytes = static_cast<size_t>(lines.end - lines.begin);
  if (bytes > arrivals_->room() || bytes > longest_fetch()) return false;
  // Take the pages first: taking one may evict another of these pages and put its written bytes.
  for (uint64_t number = lines.begin >> page_shift_; number <= (lines.end - 1) >> page_shift_;
       ++number)
    take(pe, number);
  if (lost_.may_overlap(pe, lines.begin, lines.end)) return false;
  char* place = arrivals_->add(pe, lines.begin, lines.end, epoch_);
  if (place == nullptr) return false;
  transport_->get_nbi(place, lines.begin, bytes, pe);
  ++counters_.network_gets;
  counters_.network_get_bytes += bytes;
  for (uint64_t at = lines.begin; at < lines.end;) {
    const size_t offset = at & page_mask_;
    const size_t piece =
        static_cast<size_t>(std::min<uint64_t>(lines.end - at, page_bytes() - offset));
    if (Page* page = current(pe, at >> page_shift_))
      page->pending |= lines_of(offset, offset + piece) & ~page->valid;
    at += piece;
  }
  return true;
}

// Called after a read used lines fetched ahead: their stream may want its next window.
void PageCache::follow_stream(int pe, uint64_t address) {
  const Extent next = readahead_.used(pe, address);
  if (next.begin >= next.end) return;
  const Extent around = transport_->extent(address, 1, pe);
  const Extent clipped = whole_lines(next, around);
  if (clipped.begin >= clipped.end || !fetch_ahead(pe, clipped)) return;
  readahead_.started(pe, next);
  ++counters_.readaheads;
}

void PageCache::prefetch(int pe, uint64_t address, size_t bytes) {
  if (bytes == 0 || data_ == nullptr) return;
  const Extent around = transport_->extent(address, 1, pe);
  if (around.end - around.begin <= 1) return;  // nothing is known of this address
  const uint64_t end = bytes < around.end - address ? address + bytes : around.end;
  Extent lines = lines_around({address, end}, around);
  lines = whole_lines({lines.begin, std::min(lines.end, lines.begin + longest_fetch())}, around);
  ++counters_.prefetches;
  if (!fetch_ahead(pe, lines)) ++counters_.prefetches_dropped;
  prefetch_bytes_ = (7 * prefetch_bytes_ + (lines.end - lines.begin)) / 8;
}

uint64_t PageCache::prefetch_distance() const {
  const uint64_t fit = 2 * staging_bytes_ / std::max<uint64_t>(prefetch_bytes_, line_bytes());
  return std::clamp<uint64_t>(std::min<uint64_t>(fit, pool_.frames() / 4), 1,
                              longest_prefetch_distance);
}

void PageCache::complete() {
  ++counters_.quiets;
  transport_->quiet();
  quieted();
}

// Merges the newest arrival first: an older one for the same line carries older data, and finds the
// line no longer pending.
void PageCache::quieted() {
  if (data_ == nullptr) return;
  for (size_t i = arrivals_->count(); i-- > 0;)
    if ((*arrivals_)[i].epoch == epoch_) merge_arrival((*arrivals_)[i]);
  arrivals_->clear();
  if (!puts_flying_ && !lost_.any()) return;
  for (uint32_t i = masks_.oldest(); i != 0;) {
    Page& page = pool_[masks_[i].page];
    i = masks_[i].newer;
    promote(page);
    flying(written(page)).clear_all();
    release_mask(page);
  }
  lost_.clear();
  unfenced_.clear();
  puts_flying_ = false;
}

// Merges only into lines that are still pending: others were dropped, or their page was evicted.
void PageCache::merge_arrival(const Arrivals::Arrival& arrival) {
  for (uint64_t at = arrival.begin; at < arrival.end;) {
    const uint64_t line_end =
        std::min(arrival.end, (at >> line_shift_ << line_shift_) + line_bytes());
    Page* page = current(arrival.pe, at >> page_shift_);
    const size_t offset = at & page_mask_;
    if (page != nullptr && (page->pending & lines_of(offset, offset + 1)) != 0) {
      const size_t bytes = static_cast<size_t>(line_end - at);
      merge(*page, offset, offset + bytes, arrivals_->data(arrival) + (at - arrival.begin));
      arrived(*page, offset, offset + bytes, {});
    }
    at = line_end;
  }
}

}  // namespace nearcache
