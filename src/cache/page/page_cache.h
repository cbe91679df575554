// The page cache: a write-back cache of other PEs' memory, one per context (Ferguson and Buettner, PGAS 2015, section III).
//
// Memory is cached in pages of lines. A line is *valid* when it was fetched whole after the last acquire; a byte is *written* when this
// process put it: *dirty* until its put is issued, then *in flight* until the next quiet. A read is served when every byte is in a
// valid line or written, in any mix. Only written bytes are ever put. Program order of this process's own accesses holds:
// a byte is in flight at most once at a time (a fence comes between two puts of it), and nothing is fetched from
// under a put in flight unless the page still holds the bytes that the fetch may miss.
//
// OpenSHMEM completes transfers only all together (quiet), so the cache waits as seldom as it can: what is demanded is fetched by
// a blocking get, what is fetched ahead arrives in a staging area and is merged at the next quiet around what was written meanwhile.
//
// Not thread-safe: the front end locks. No system call, no allocation after create(). All state lies in one region.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cache/page/arrivals.h"
#include "cache/page/byte_mask.h"
#include "cache/page/in_flight.h"
#include "cache/page/page_pool.h"
#include "cache/page/page_transport.h"
#include "cache/page/prefetch_pace.h"
#include "cache/page/readahead.h"
#include "cache/page/recent_pages.h"
#include "cache/page/scattered_reads.h"
#include "base/region.h"

namespace nearcache {

struct PageCacheOptions {
  size_t size = 1 << 20;         // bytes of pages
  size_t page = 1024;            // bytes, a power of two, 256 to 65536
  size_t line = 64;              // bytes, a power of two, page/64 to page
  size_t dirty_pages = 64;       // pages with written bytes at a time, at most; taken as one of 1 to 65,535, and to the number of pages
  size_t readahead = 32 << 10;   // bytes fetched ahead at once, at most; 0: never. More than 1 GiB is taken as that
  // Nothing is served that was fetched longer ago than this, even to a program that never synchronises and polls among many
  // other reads: refetching a full cache a second costs less than a hundredth of it.
  double longest_age_ns = 1e9;
};

// What happened, since create(). Bytes and calls.
struct PageCacheCounters {
  uint64_t gets = 0, hits = 0, puts = 0;               // accesses served: reads, of these without the network, writes
  uint64_t get_bytes = 0, hit_bytes = 0, put_bytes = 0;
  uint64_t network_gets = 0, network_get_bytes = 0;    // transfers issued
  uint64_t network_puts = 0, network_put_bytes = 0;
  uint64_t quiets = 0, fences = 0;                     // issued by the cache for order or arrival
  uint64_t readaheads = 0, prefetches = 0, prefetches_dropped = 0;
  uint64_t ahead_lines = 0, ahead_lines_used = 0;      // lines fetched before they were asked for; of these used
  uint64_t evictions = 0, acquires = 0, releases = 0, polls = 0;
  uint64_t get_ns = 0, timed_gets = 0;                 // of demand fetches that were timed
};

class PageCache {
 public:
  PageCache();  // holds nothing and serves nothing until create()
  PageCache(const PageCache&) = delete;
  PageCache& operator=(const PageCache&) = delete;

  // Takes its memory. False, and the cache stays unusable, when the system refuses. pre: size, page and line are in their ranges.
  bool create(const PageCacheOptions& options, PageTransport* transport);
  // Bytes of memory that create() takes at most.
  static size_t memory_bytes(const PageCacheOptions& options);

  // Reads [address, address + bytes) of `pe`.
  void get(int pe, uint64_t address, void* to, size_t bytes) {
    if (!hit(pe, address, to, bytes)) [[unlikely]] get_slowly(pe, address, to, bytes);
  }
  // Writes it: here now, at the target by the next release at the latest.
  void put(int pe, uint64_t address, const void* from, size_t bytes) {
    if (!put_quickly(pe, address, from, bytes)) [[unlikely]] put_slowly(pe, address, from, bytes);
  }
  // True if every byte can be read without the network; changes nothing.
  bool holds(int pe, uint64_t address, size_t bytes) const;

  // A hint: starts fetching what is not here. Never waits, and does nothing where there is no room or the range is not
  // inside its extent; a range that reaches over its end is clipped.
  void prefetch(int pe, uint64_t address, size_t bytes);
  // How many accesses ahead a program should prefetch: from the measured latency and the time between uses.
  uint64_t prefetch_distance() const { return pace_.distance(); }

  // Nothing read before is served afterwards; written bytes stay. O(1).
  void acquire();
  // Starts the puts of everything dirty; does not wait.
  void start_write_back();
  // Everything written is at its target.
  void release();
  // The front end has made the context quiet itself, after start_write_back().
  void quieted();
  // The program has ordered or completed what it wrote: the next word that it puts may be a flag, and is put at once, as the program may
  // make no call for long after it.
  void flag_may_follow() { flag_may_follow_ = true; }

  // The front end is about to access [address, address + bytes) of `pe` past the cache:
  // - to read: what was written here is put and complete before;
  void before_direct_get(int pe, uint64_t address, size_t bytes);
  // - to write all of it: nothing of it is kept, and puts of it in flight come first;
  void before_direct_put(int pe, uint64_t address, size_t bytes);
  // - to change some of it (atomics, strided puts): what was written here is put before and ordered before; nothing is kept;
  void before_direct_update(int pe, uint64_t address, size_t bytes);
  // - the same by a call that returns when the change is made, as a fetching atomic does: nothing needs to wait for it later.
  void before_direct_fetch(int pe, uint64_t address, size_t bytes);

  // [address, address + bytes) of `pe` was changed by somebody else just now: what was read of it is not served any more.
  void overtaken(int pe, uint64_t address, size_t bytes);

  // Forgets [address, address + bytes) of every PE: dirty bytes too, which are never put.
  void forget(uint64_t address, size_t bytes);

  // How often a get made it seem that the program waits for another PE's answer. What was written here was started then; what was written
  // elsewhere is for the front end to start.
  uint64_t waits_suspected() const { return waits_suspected_; }

  bool dirty() const;      // something is not put yet
  bool in_flight() const;  // something is under way: puts, or what is fetched ahead
  const PageCacheCounters& counters() const;

  // Checks every invariant of the structure; for tests. Returns nullptr or what is wrong.
  const char* broken() const;

  // The quick way of get(): true when served.
  bool hit(int pe, uint64_t address, void* to, size_t bytes) {
    const uint64_t number = address >> page_shift_;
    Page& page = pool_.likely(pe, number);
    if ((page.number != number) | (page.pe != pe) | (page.epoch != epoch_)) return false;
    const size_t offset = address & page_mask_;
    const size_t last = offset + bytes - 1;
    if (last > page_mask_) return false;
    const uint64_t lines = lines_between(offset >> line_shift_, last >> line_shift_);
    if ((page.quick & lines) != lines || look_at_polls(address)) return false;
    page.referenced = 1;
    hit_bytes_ += bytes;
    std::memcpy(to, data_ + (static_cast<size_t>(&page - &pool_[0]) << page_shift_) + offset, bytes);
    return true;
  }
  // The quick way of put(): true when the page was at hand.
  bool put_quickly(int pe, uint64_t address, const void* from, size_t bytes) {
    const uint64_t number = address >> page_shift_;
    Page& page = pool_.likely(pe, number);
    if ((page.number != number) | (page.pe != pe) | (page.epoch != epoch_) | (page.written == 0) | flag_may_follow_) return false;
    const size_t offset = address & page_mask_;
    if (offset + bytes > page_mask_ + 1) return false;
    write_in_page(page, offset, from, bytes);
    return true;
  }

 private:
  static constexpr uint32_t none = PagePool::none;

  // The written bytes of one page. Two masks of a bit a byte follow it: dirty, in flight.
  struct Written {
    uint32_t page;
    uint32_t newer, older;  // in the order in which the pages were first written; the free ones by `older`
    uint16_t low, high;     // the words [low, high) of both masks hold all that is set
    uint64_t bits[];
  };

  static uint64_t lines_between(size_t first, size_t last) { return ((uint64_t{2} << (last - first)) - 1) << first; }

  // Polling shows in few addresses that are read over and over. Every so many hits that is looked at: an odd number, so that
  // several addresses polled in turn take turns here too.
  static constexpr uint32_t hits_a_look = 47;
  // So many pages in a row, put with no more than 64 bytes' span in them, show that the program writes here and there.
  static constexpr uint32_t scattered_pages = 64;
  // Reads from the network between two starts of write-back that nobody asked for: a put costs half of what a get does, so this adds a hundredth.
  static constexpr uint32_t reads_a_write_back = 64;
  static uint64_t poll_bit(uint64_t address) { return uint64_t{1} << (((address >> 3) ^ (address >> 12)) & 63); }
  bool look_at_polls(uint64_t address) {
    polled_ |= poll_bit(address);
    return ++hits_since_look_ >= hits_a_look;
  }

  char* frame(const Page& page) const { return data_ + (static_cast<size_t>(pool_.index_of(page)) << page_shift_); }
  Written& written(const Page& page) const { return written_at(page.written - 1u); }
  Written& written_at(uint32_t i) const { return *reinterpret_cast<Written*>(writes_ + i * written_bytes_); }
  ByteMask dirty(Written& w) const { return {w.bits, mask_words_, w.low, w.high}; }
  ByteMask flying(Written& w) const { return {w.bits + mask_words_, mask_words_, w.low, w.high}; }
  size_t page_bytes() const { return page_mask_ + 1; }
  size_t line_bytes() const { return size_t{1} << line_shift_; }
  uint64_t address_of(const Page& page) const { return page.number << page_shift_; }
  uint64_t lines_of(size_t begin, size_t end) const { return lines_between(begin >> line_shift_, (end - 1) >> line_shift_); }

  void write_in_page(Page& page, size_t offset, const void* from, size_t bytes) {
    Written& w = written(page);
    w.low = static_cast<uint16_t>(std::min<size_t>(w.low, offset / 64));
    w.high = static_cast<uint16_t>(std::max<size_t>(w.high, (offset + bytes - 1) / 64 + 1));
    dirty(w).set(offset, offset + bytes);
    std::memcpy(frame(page) + offset, from, bytes);
    page.referenced = 1;
    maybe_dirty_ = true;
    ++counters_.puts;
    counters_.put_bytes += bytes;
  }

  void get_slowly(int pe, uint64_t address, void* to, size_t bytes);
  void put_slowly(int pe, uint64_t address, const void* from, size_t bytes);

  // page_cache.cpp: pages
  Page* current(int pe, uint64_t number);  // the page with nothing stale in it, or nullptr
  Page& take(int pe, uint64_t number);     // the same, newly if need be; another page may go
  void refresh(Page& page);
  void empty(Page& page);  // puts what is dirty, and forgets the rest
  void ahead_unused(Page& page);
  bool known(const Page& page, size_t begin, size_t end) const;
  bool use(Page& page, size_t begin, size_t end);  // whether it is known; marks it as used
  void look(int pe, uint64_t address, size_t bytes);
  bool reads_go_around(int pe, uint64_t number);
  uint64_t hits_so_far() const { return counters_.hits - counted_fast_hits_ + fast_hits_ + hits_since_look_; }
  void drop_lines(int pe, uint64_t address, size_t bytes);

  // page_cache_fetch.cpp: from the network
  bool fetch(int pe, uint64_t begin, uint64_t end, uint64_t wanted_end);
  void get_past(int pe, uint64_t address, void* to, size_t bytes);
  void fetch_uncached(int pe, uint64_t begin, uint64_t end, char* to);
  void fetch_lines(int pe, const Extent& lines, const Extent& demanded);
  void fetch_strides(int pe, const Extent& access, const Extent& around, int64_t stride, int strides);
  void arrived(Page& page, size_t begin, size_t end, const Extent& demanded);
  void merge(Page& page, size_t begin, size_t end, const char* from);
  void merge_arrival(const Arrivals::Arrival& arrival);
  bool fetch_ahead(int pe, Extent lines);
  void follow_stream(int pe, uint64_t address);
  bool wanted(int pe, uint64_t line);
  void await_arrivals();
  void complete();
  Extent lines_around(const Extent& bytes, const Extent& around) const;
  Extent whole_lines(const Extent& bytes, const Extent& around) const;
  uint64_t longest_fetch() const;

  // page_cache_write.cpp: to the network
  void attach(Page& page);
  void detach(Page& page);  // its bytes in flight are known no more
  void release_mask(Page& page);
  void promote(Page& page);
  void lose_flying(Page& page);
  void write_back(Page& page);
  void write_back_run(Page& page, size_t begin, size_t end);
  void send(int pe, uint64_t begin, uint64_t end);
  void fence();
  template <class Action>
  void each_written(int pe, uint64_t address, uint64_t end, Action action);
  bool under_way(const InFlight& lost, int pe, uint64_t begin, uint64_t end);
  bool make_way(int pe, uint64_t address, size_t bytes);
  void lose(int pe, uint64_t begin, uint64_t end);
  void count_read();
  void suspect_wait();
  bool put_around(int pe, uint64_t address, const void* from, size_t bytes);
  void write_through(Page& page, size_t offset, const void* from, size_t bytes);
  void learn_scatter(const Page& page);

  // What a hit reads comes first, in one line of the processor's cache.
  PagePool pool_;
  char* data_ = nullptr;
  int page_shift_ = 10, line_shift_ = 6;
  size_t page_mask_ = 1023;
  uint32_t epoch_ = 1;
  uint32_t hits_since_look_ = 0;
  uint64_t polled_ = 0;
  uint64_t hit_bytes_ = 0;
  char* writes_ = nullptr;
  size_t written_bytes_ = 0, mask_words_ = 0;

  uint32_t network_reads_ = 0;
  uint64_t waits_suspected_ = 0;
  uint32_t scattered_ = 0;            // pages in a row that were put with a few bytes in them
  uint32_t puts_around_ = 0;
  RecentPages<64> put_around_;        // pages that were put to past the cache
  bool maybe_dirty_ = false;    // false: no byte is dirty
  bool flag_may_follow_ = false;  // the next put of at most a word is put at once
  PageTransport* transport_ = nullptr;
  PageCacheOptions options_;
  Region region_;
  uint32_t newest_written_ = none, oldest_written_ = none, free_written_ = none;
  InFlight lost_;               // under way since the last quiet, and held by no page
  InFlight unfenced_;           // of these, what was issued since the last fence
  bool puts_flying_ = false;    // a put was issued since the last quiet
  Arrivals* arrivals_ = nullptr;
  char* fetched_ = nullptr;     // staging of blocking gets
  char* sent_ = nullptr;        // staging of puts across pages
  size_t staging_bytes_ = 0;    // of each
  Readahead readahead_;
  ScatteredReads scattered_reads_;
  PrefetchPace pace_;
  uint64_t fast_hits_ = 0;      // before the last look
  uint32_t slow_hits_since_look_ = 0;
  uint64_t fresh_since_ = 0;    // ticks at the first look after the last acquire
  uint64_t get_ticks_ = 0;      // of counters_.timed_gets
  mutable uint64_t counted_fast_hits_ = 0, counted_hit_bytes_ = 0;  // those that are in counters_ already
  mutable PageCacheCounters counters_;
};

}  // namespace nearcache
