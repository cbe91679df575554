// SPDX-License-Identifier: BSD-3-Clause
#include "cache/page/page_cache.h"

#include <algorithm>
#include <bit>
#include <new>

#include "base/round.h"

namespace nearcache {
namespace {

constexpr size_t whole_cache_lines(size_t bytes) { return round_up(bytes, 64); }

// Clamps the options to what the fields of pages and arrivals can count and to what is useful: no
// more masks than there are pages.
PageCacheOptions within_bounds(PageCacheOptions o) {
  constexpr size_t most_masks = INT16_MAX, most_readahead = size_t{1} << 30;
  o.dirty_pages = std::clamp<size_t>(
      o.dirty_pages, 1, std::min<size_t>(most_masks, std::max<size_t>(o.size / o.page, 1)));
  o.readahead = std::min(o.readahead, most_readahead);
  return o;
}

size_t staging_bytes(const PageCacheOptions& o) {
  return std::max(o.page, std::min(std::max(o.readahead, o.page), o.size / 8));
}

struct RegionLayout {
  size_t pages, masks, arrivals, fetched, sent, arrived, data, end;
};

RegionLayout layout_of(const PageCacheOptions& o) {
  const size_t staging = staging_bytes(o);
  RegionLayout at{};
  at.masks = at.pages + PagePool::bytes(o.size / o.page);
  at.arrivals = at.masks + whole_cache_lines(WriteMasks::bytes(o.dirty_pages, o.page));
  at.fetched = at.arrivals + whole_cache_lines(sizeof(Arrivals));
  at.sent = at.fetched + staging;
  at.arrived = at.sent + staging;
  at.data = whole_cache_lines(at.arrived + 2 * staging);
  at.end = at.data + o.size;
  return at;
}

}  // namespace

// The index has only empty chains, so hit() and put_quickly() find nothing.
PageCache::PageCache() { pool_.create_empty(); }

size_t PageCache::memory_bytes(const PageCacheOptions& options) {
  return layout_of(within_bounds(options)).end + sizeof(PageCache);
}

bool PageCache::create(const PageCacheOptions& given, PageTransport* transport) {
  const PageCacheOptions options = within_bounds(given);
  const RegionLayout at = layout_of(options);
  if (!region_.reserve(at.end)) return false;
  char* base = static_cast<char*>(region_.base());
  options_ = options;
  transport_ = transport;
  page_shift_ = std::countr_zero(options.page);
  line_shift_ = std::countr_zero(options.line);
  page_mask_ = options.page - 1;
  pool_.create(base + at.pages, options.size / options.page);
  data_ = base + at.data;
  masks_.create(base + at.masks, options.dirty_pages, options.page);
  fetched_ = base + at.fetched;
  sent_ = base + at.sent;
  staging_bytes_ = staging_bytes(options);
  arrivals_ = new (base + at.arrivals) Arrivals;
  arrivals_->create(base + at.arrived, 2 * staging_bytes_);
  readahead_.create(std::min<size_t>(options.readahead, longest_fetch()), options.line,
                    options.page, options.heuristics);
  return true;
}

Page* PageCache::current(int pe, uint64_t number) {
  Page* page = pool_.find(pe, number);
  if (page != nullptr && page->epoch != epoch_) refresh(*page);
  return page;
}

Page& PageCache::take(int pe, uint64_t number) {
  if (Page* page = current(pe, number)) return *page;
  bool used = false;
  const uint32_t frame = pool_.victim(&used);
  if (used) {
    empty(pool_[frame]);
    lose_valid(pool_[frame], ~uint64_t{0});
    pool_.remove(frame);
  }
  Page& page = pool_.insert(frame, pe, number);
  page.epoch = epoch_;
  return page;
}

// Brings a page up to date after an acquire. What was read is stale. Dirty bytes are this process's
// latest value. Bytes in flight may have been overwritten by someone who saw them, so they are
// fetched again once their put is complete.
void PageCache::refresh(Page& page) {
  ahead_unused(page);
  page.quick = page.valid = page.pending = 0;
  page.epoch = epoch_;
  if (page.written == 0) return;
  lose_flying(page);
  release_mask(page);
}

void PageCache::empty(Page& page) {
  ++counters_.evictions;
  ahead_unused(page);
  if (page.written == 0) return;
  write_back(page);
  detach(page);
}

// Marks these lines of the page as no longer valid.
void PageCache::lose_valid(Page& page, uint64_t lines) {
  if (page.epoch == epoch_)
    valid_lines_ -= static_cast<uint64_t>(std::popcount(page.valid & lines));
  page.valid &= ~lines;
}

void PageCache::ahead_unused(Page& page) {
  if (page.ahead == 0) return;
  readahead_.count(0, static_cast<size_t>(std::popcount(page.ahead)));
  page.ahead = 0;
}

bool PageCache::known(const Page& page, size_t begin, size_t end) const {
  uint64_t missing = lines_of(begin, end) & ~page.valid;
  if (missing == 0) return true;
  if (page.written == 0) return false;
  Mask& m = written(page);
  for (; missing != 0; missing &= missing - 1) {
    const size_t line = static_cast<size_t>(std::countr_zero(missing)) << line_shift_;
    const size_t last = std::min(end, line + line_bytes());
    for (size_t at = std::max(begin, line); at < last;) {
      const size_t known_to = masks_.written_to(m, at);
      if (known_to == at) return false;
      at = known_to;
    }
  }
  return true;
}

bool PageCache::use(Page& page, size_t begin, size_t end) {
  if (!known(page, begin, end)) return false;
  page.referenced = 1;
  const uint64_t first_used = page.ahead & lines_of(begin, end);
  if (first_used == 0) return true;
  const auto lines = static_cast<size_t>(std::popcount(first_used));
  counters_.ahead_lines_used += lines;
  readahead_.count(lines, 0);
  page.ahead &= ~first_used;
  page.quick = page.valid & ~page.ahead;
  return true;
}

void PageCache::get_slowly(PageReader& reader, int pe, uint64_t address, void* to, size_t bytes) {
  PollDetector& polls = reader.polls;
  const bool looked_at = polls.time_to_look();
  if (looked_at) look(reader, pe, address, bytes);
  const uint64_t end = address + bytes;
  const uint64_t ahead_used = counters_.ahead_lines_used;
  bool served = true;
  for (uint64_t at = address; at < end;) {
    const size_t offset = at & page_mask_;
    const size_t piece = static_cast<size_t>(std::min<uint64_t>(end - at, page_bytes() - offset));
    Page* page = current(pe, at >> page_shift_);
    if (page == nullptr || !use(*page, offset, offset + piece)) {
      served = false;
      if (page == nullptr && piece == bytes && reads_go_around(pe, at >> page_shift_)) {
        count_read();
        get_past(pe, at, to, bytes);
      } else {
        if (fetch(pe, at, at + piece, end)) continue;  // the page holds them now: look again
        fetch_uncached(pe, at, at + piece, static_cast<char*>(to) + (at - address));
      }
    } else {
      std::memcpy(static_cast<char*>(to) + (at - address), frame(*page) + offset, piece);
    }
    at += piece;
  }
  ++counters_.gets;
  counters_.get_bytes += bytes;
  if (served) {
    ++counters_.hits;
    counters_.hit_bytes += bytes;
  }
  if (!looked_at) served ? polls.slow_hit(address) : polls.miss();
  if (counters_.ahead_lines_used != ahead_used) follow_stream(pe, address);
  if (options_.answers_told && (looked_at || !served))
    transport_->answered(pe, address, bytes, served);
}

// Scattered reads gain nothing from pages, which only cost them time: most of them are passed
// directly to the network.
bool PageCache::reads_go_around(int pe, uint64_t number) {
  return options_.heuristics.scattered_reads &&
         scattered_reads_.passes(pe, number,
                                 {pool_.full(), hits_so_far(), counters_.timed_gets, get_ns_});
}

// Inspects one read in many: is the program polling, and is what it reads too old?
void PageCache::look(PageReader& reader, int pe, uint64_t address, size_t bytes) {
  if (reader.polls.look() && holds(pe, address, bytes)) {
    ++counters_.polls;
    suspect_wait();  // what is awaited may be the answer to what was written
    before_direct_get(pe, address, bytes);
    drop_lines(pe, address, bytes);
  }
  const double now = now_ns();
  if (fresh_since_ns_ == 0) {
    fresh_since_ns_ = now;
  } else if (now - fresh_since_ns_ > options_.longest_age_ns) {
    release();  // after an acquire, own bytes in flight would be fetched again
    acquire();
  }
}

bool PageCache::hit_pages_unlocked(PageReader& reader, int pe, uint64_t address, void* to,
                                   size_t bytes) {
  const uint64_t removals = pool_.removals_unlocked(), end = address + bytes;
  for (uint64_t at = address; at < end;) {
    const auto piece =
        static_cast<size_t>(std::min<uint64_t>(end - at, page_bytes() - (at & page_mask_)));
    if (!load_unlocked(pe, at, static_cast<char*>(to) + (at - address), piece)) return false;
    at += piece;
  }
  return was_hit(reader, removals, address, bytes);
}

// Returns true if look() would find neither polling nor data that is too old, and thus can be
// skipped.
bool PageCache::nothing_to_do(PollDetector& polls) const {
  const double since = fresh_since_ns_.load();
  if (since == 0 || now_ns() - since > options_.longest_age_ns || polls.polling()) return false;
  polls.look();
  return true;
}

void PageCache::put_slowly(int pe, uint64_t address, const void* from, size_t bytes) {
  const bool flag = flag_may_follow_ && bytes <= sizeof(uint64_t);
  flag_may_follow_ = false;
  if (options_.heuristics.scattered_puts && scattered_puts_.likely() &&
      put_around(pe, address, from, bytes))
    return;
  const uint64_t end = address + bytes;
  for (uint64_t at = address; at < end;) {
    const size_t offset = at & page_mask_;
    const size_t piece = static_cast<size_t>(std::min<uint64_t>(end - at, page_bytes() - offset));
    Page& page = take(pe, at >> page_shift_);
    if (page.written == 0) attach(page);
    write_in_page(page, mask_number(page), offset, static_cast<const char*>(from) + (at - address),
                  piece);
    at += piece;
  }
  if (flag) start_write_back();
}

bool PageCache::holds(int pe, uint64_t address, size_t bytes) const {
  const uint64_t end = address + bytes;
  for (uint64_t at = address; at < end;) {
    const size_t offset = at & page_mask_;
    const size_t piece = static_cast<size_t>(std::min<uint64_t>(end - at, page_bytes() - offset));
    const Page* page = pool_.find(pe, at >> page_shift_);
    if (page == nullptr) return false;
    // dirty bytes survive acquires
    const bool all_dirty =
        page->written != 0 && dirty(written(*page)).next_unset(offset) >= offset + piece;
    if (!all_dirty && (page->epoch != epoch_ || !known(*page, offset, offset + piece)))
      return false;
    at += piece;
  }
  return true;
}

bool PageCache::awaits(int pe, uint64_t address, size_t bytes) const {
  const uint64_t end = address + bytes;
  for (uint64_t at = address; at < end;) {
    const size_t offset = at & page_mask_;
    const size_t piece = static_cast<size_t>(std::min<uint64_t>(end - at, page_bytes() - offset));
    const Page* page = pool_.find(pe, at >> page_shift_);
    if (page != nullptr && page->epoch == epoch_ &&
        (page->pending & lines_of(offset, offset + piece)) != 0)
      return true;
    at += piece;
  }
  return false;
}

bool PageCache::wrote(int pe, uint64_t address) const {
  if (lost_.may_overlap(pe, address, address + 1)) return true;
  const Page* page = pool_.find(pe, address >> page_shift_);
  return page != nullptr && page->written != 0 &&
         masks_.written(written(*page), address & page_mask_);
}

void PageCache::acquire() {
  ++counters_.acquires;
  counters_.dropped_bytes += valid_bytes();
  valid_lines_ = 0;
  fresh_since_ns_ = 0;
  uint32_t next = epoch_ + 1;
  if (next == 0) {  // after 2^32 acquires: no page may appear to belong to the new ones
    for (uint32_t i = 0; i < pool_.frames(); ++i) pool_[i].epoch = 0;
    next = 1;
  }
  epoch_ = next;
}

// Drops the lines that overlap [address, address + bytes), but not what was written to them. `pe` <
// 0: of every PE.
void PageCache::drop_lines(int pe, uint64_t address, size_t bytes) {
  const uint64_t end = address + bytes;
  const auto drop = [&](Page& page) {
    const uint64_t base = address_of(page);
    if (base >= end || base + page_bytes() <= address) return;
    const size_t from = address > base ? static_cast<size_t>(address - base) : 0;
    const uint64_t lines =
        lines_of(from, static_cast<size_t>(std::min<uint64_t>(end - base, page_bytes())));
    page.quick &= ~lines;
    lose_valid(page, lines);
    page.pending &= ~lines;
    page.ahead &= ~lines;
  };
  const uint64_t first = address >> page_shift_, last = (end - 1) >> page_shift_;
  if (pe >= 0 && last - first < pool_.frames()) {
    for (uint64_t number = first; number <= last; ++number)
      if (Page* page = pool_.find(pe, number)) drop(*page);
    return;
  }
  for (uint32_t i = 0; i < pool_.frames(); ++i)
    if (pool_[i].queue != 0 && (pe < 0 || pool_[i].pe == pe)) drop(pool_[i]);
}

bool PageCache::in_flight() const {
  return puts_flying_ || lost_.any() || (arrivals_ != nullptr && !arrivals_->empty());
}

void PageCache::count(PageReader& reader) const {
  const uint64_t hits = reader.uncounted_hits();
  const uint64_t bytes = reader.hit_bytes - reader.counted_hit_bytes;
  counters_.gets += hits;
  counters_.hits += hits;
  counters_.get_bytes += bytes;
  counters_.hit_bytes += bytes;
  reader.counted_hits += hits;
  reader.counted_hit_bytes += bytes;
}

const PageCacheCounters& PageCache::counters() const {
  count(reader_);
  counters_.get_ns = static_cast<uint64_t>(get_ns_);
  return counters_;
}

}  // namespace nearcache
