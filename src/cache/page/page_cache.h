// SPDX-License-Identifier: BSD-3-Clause

// The page cache: a write-back cache of other PEs' memory, one per context (Ferguson and Buettner,
// PGAS 2015, section III).
//
// Memory is cached in pages. A page is fetched by lines and written by bytes. Only bytes that the
// program wrote are ever put, so PEs that write to different bytes of a line do not overwrite each
// other. OpenSHMEM completes transfers only all together, with a quiet that is a round trip of its
// own, so the cache waits as seldom as it can: data on demand is fetched by a blocking get; data
// fetched ahead arrives in a staging area and is merged into its page at the next quiet, around
// whatever has been written in the meantime.
//
// States of a byte. The line that contains it is absent, pending (being fetched into the staging
// area) or valid. In addition, the byte itself may be dirty (written by this process and not put
// yet) and in flight (its put has been issued, with no quiet since). An absent byte need not even
// have a page. A lost byte is in flight but held by no page: only InFlight knows of it, at line
// granularity, and it may report too many.
//
// byte      line    dirty in flight read         put   write-back    quiet     acquire   eviction
// absent    absent  -     -         fetches line dirty -             -         -         -
// pending   pending -     -         quiet        dirty -             clean     absent    absent
// clean     valid   -     -         is served    dirty -             -         absent    absent
// dirty     any     yes   -         is served    -     in flight     -         -         lost [4]
// in flight any     -     yes       is served    both  -             clean [1] lost      lost
// both      any     yes   yes       is served    -     in flight [2] dirty     dirty [3] lost [4]
// lost      -       -     yes       quiet, fetch dirty -             absent    -         -
//
//  [1] if its line was written completely since the last acquire, or is valid; absent otherwise.
//  [2] after a fence.
//  [3] and the put in flight becomes lost.
//  [4] by being put.
//
// Accesses that bypass the cache change these states, too. Before a direct get of it, a dirty byte
// is written back, and a quiet completes what is in flight. A direct put makes every byte lost. So
// does an atomic or strided put, after a fence that orders it behind puts of bytes that were dirty
// or in flight. A fetching atomic is complete when it returns, so it leaves bytes absent that were
// not written. If another context has changed the memory (overtaken()), clean and pending bytes
// become absent, bytes in flight become lost, and dirty bytes stay dirty: they will be put after
// that change. forget() makes every byte absent, or lost if it was in flight.
//
// Invariants. broken() checks the first ten and the last after every operation of the unit and fuzz
// tests, and cites them by number. The others are checked by the transport and the model of these
// tests (tests/fuzz/lazy_transport.h, page_model.h), which know what the program wrote and what it
// may see.
//
//  1  A line is ahead (fetched before it was requested, and not used yet) only if it is valid.
//  2  `quick`, the lines that a hit serves at once, always equals valid and not ahead.
//  3  No line is both valid and pending.
//  4  A line is pending only if an arrival requested since the last acquire contains it: a read
//     that waits for it waits once.
//  5  A page has a write mask exactly while one of its bytes is dirty or in flight, and page and
//     mask refer to each other.
//  6  Every mask is either free or in the list of written pages, oldest first.
//  7  All bits set in a mask lie within its bounds.
//  8  maybe_dirty_ is set while a byte is dirty, puts_flying_ while one is in flight: a release
//     skips neither.
//  9  Whatever awaits a fence (unfenced_) also awaits a quiet (lost_).
// 10  A page is in the chain of its hash and in one queue; a frame without a page is in no chain.
// 11  Only bytes that the program wrote are put, with the value written last, and every one of
//     them is put unless it is forgotten.
// 12  There are never two puts of a byte in flight, nor an atomic and a put, unless a fence
//     separates them.
// 13  Nothing is fetched while a put to it is in flight, unless its page still holds the bytes
//     that the fetch may miss.
// 14  Nothing read before an acquire is served after it, in particular nothing that arrives after
//     it.
// 15  A line is valid only if all of its readable bytes were fetched or written: extents end where
//     readable memory does.
// 16  valid_lines_ counts the valid lines of pages that no acquire has made stale.
//
// Cost limits.
//
// - A hit: the multiplication of the hash, a load of the chain's head, a load of the page's state
//   (one line of the processor's cache), and the copy; some 80 instructions for a word. It must not
//   call a function, read the time or move a page in a list (so Am is a clock with a flag instead
//   of an LRU list), and it writes nothing but that flag and the cache's own counts. Every 47th
//   read is inspected, since a program may be polling, and costs some 300 instructions.
// - A put to a page that already has a mask: the same, with bits being set in the mask instead of
//   the test of the lines; about 100 instructions. The first put to a page takes a mask. If no mask
//   is free, the page that was first written longest ago is written back. The transport buffers
//   puts, so no put waits for the network, except for the fence of invariant 12. If a part of the
//   page must not be cached, the front end has to look at each put: the mask says so.
// - A miss: one blocking get, which takes microseconds. Its overhead is some 450 instructions if
//   the read bypasses the cache and up to 1,200 if it is cached, most of them for finding streams,
//   taking a page and emptying its predecessor. A miss waits for a quiet only if invariant 13
//   demands it or its line is pending. A fetch ahead never waits: it is dropped if there is no
//   room.
//
// The heuristics, and what each of them gains, are described in docs/architecture.md; `bench/run
// pages` measures it with each of them switched off.
//
// What was tried and given up:
//
// - Arrival directly in the pages: a put to such a page, or its eviction, had to wait for the
//   quiet.
// - One list of all direct writes, whose ranges were dropped from the cache at each quiet: programs
//   that use atomics lost everything they had read. InFlight is therefore a set that may have false
//   positives and is cleared at each quiet.
// - Keeping the part of a line that lies inside an extent: two extents met in one line, and all of
//   it was served. Hence invariant 15.
// - Treating a fetching atomic as a write in flight, because it looks like one: the next get of its
//   line paid for a quiet.
// - Masks without bounds: searching a whole page for set bits cost more than the put of a few
//   bytes.
// - Looking for streams at every miss, and caching all reads: scattered reads paid 1,200
//   instructions each for pages that were never used again (Readahead's doubt, ScatteredReads).
// - A prefetch distance learned from measured waits: for single words it took 3 to 16% longer than
//   a constant 64. For 2 KiB each, where it asked for more than the staging area holds, it took two
//   to three times as long as a distance that fits.
// - Fetching less ahead as soon as two thirds of the lines were unused, judged every 64 lines: a
//   line costs 50 ns and saves microseconds, and evictions reveal unused lines in bursts. Now one
//   line in eight must be used, judged every thousand: runs of 256 B take 40% less time, a graph
//   search a third less.
// - Strided fetches of only the element's own line: the next column of a matrix found nothing. Now
//   the bytes around each element come with it, which takes 36 to 65% less time.
//
// Threads. The front end holds a lock during every call except hit_unlocked(). That one reads a
// page's state (published.h) and copies bytes while other threads may be changing both. Two rules
// make its result correct:
// - `quick` is cleared before a line's bytes become invalid, and set only after they have become
//   valid. In between they change only from one value that may be served to another.
// - A frame is given to another page only after its page was removed, and removals are counted. If
//   the count after the copy equals the count before the look-up, the bytes copied belong to the
//   page that was looked up.
// A thread that has learned of a put, an acquire or any other change made under the lock sees that
// change. It writes nothing shared except `referenced`; its hits are counted in a PageReader of its
// own.
//
// No system call and no allocation after create(). All state lies in one region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/region.h"
#include "cache/page/arrivals.h"
#include "cache/page/heuristics.h"
#include "cache/page/in_flight.h"
#include "cache/page/page_pool.h"
#include "cache/page/page_transport.h"
#include "cache/page/readahead.h"
#include "cache/page/scattered_puts.h"
#include "cache/page/scattered_reads.h"
#include "cache/page/write_masks.h"
#include "cache/poll_detector.h"

namespace nearcache {

struct PageCacheOptions {
  size_t size = 1 << 20;  // bytes in all pages
  size_t page = 1024;     // bytes, a power of two, 256 to 65536
  size_t line = 64;       // bytes, a power of two, page/64 to page
  // maximum number of pages with written bytes; clamped to 1 to 32,767 and to the number of pages
  size_t dirty_pages = 64;
  // maximum bytes fetched ahead at once; 0: never. Clamped to 1 GiB
  size_t readahead = 32 << 10;
  bool answers_told = false;  // PageTransport::answered is to be called
  // Nothing fetched longer ago than this is served, not even to a program that never synchronises
  // and polls among many other reads. Refetching a full cache once a second takes less than 1% of
  // the time.
  double longest_age_ns = 1e9;
  // hit_unlocked() will be called: data enters pages only through store_bytes(), never by a get
  bool unlocked_hits = false;
  PageHeuristics heuristics;
};

// What one reading thread keeps for itself: its poll detector and its hits.
struct PageReader {
  uint64_t hit_bytes = 0;
  PollDetector polls;
  // the part of its hits that the cache's counters already include
  uint64_t counted_hits = 0, counted_hit_bytes = 0;

  uint64_t uncounted_hits() const { return polls.quick_hits() - counted_hits; }
};

// Counts since create(), in bytes or calls.
struct PageCacheCounters {
  // accesses: reads, reads served without the network, writes
  uint64_t gets = 0, hits = 0, puts = 0;
  uint64_t get_bytes = 0, hit_bytes = 0, put_bytes = 0;
  uint64_t network_gets = 0, network_get_bytes = 0;  // transfers issued
  uint64_t network_puts = 0, network_put_bytes = 0;
  uint64_t quiets = 0, fences = 0;  // issued by the cache itself, for ordering or arrival
  uint64_t readaheads = 0, prefetches = 0, prefetches_dropped = 0;
  // lines fetched before they were requested, and those of them that were used
  uint64_t ahead_lines = 0, ahead_lines_used = 0;
  uint64_t evictions = 0, acquires = 0, releases = 0, polls = 0;
  uint64_t dropped_bytes = 0;           // of valid lines that acquires made stale
  uint64_t get_ns = 0, timed_gets = 0;  // blocking gets that were timed
};

class PageCache {
 public:
  PageCache();  // empty, and serves nothing until create()
  PageCache(const PageCache&) = delete;
  PageCache& operator=(const PageCache&) = delete;

  // Allocates the cache. Returns false, and the cache stays unusable, if the system refuses the
  // memory. pre: size, page and line are in their ranges.
  bool create(const PageCacheOptions& given, PageTransport* transport);
  // Returns the maximum number of bytes that create() allocates.
  static size_t memory_bytes(const PageCacheOptions& options);

  // Reads [address, address + bytes) of `pe`.
  void get(int pe, uint64_t address, void* to, size_t bytes) {
    if (!hit(pe, address, to, bytes)) [[unlikely]]
      get_slowly(reader_, pe, address, to, bytes);
  }
  // Like get(), for a thread that has tried hit_unlocked() first.
  void get(PageReader& reader, int pe, uint64_t address, void* to, size_t bytes) {
    count(reader);
    get_slowly(reader, pe, address, to, bytes);
  }
  // Writes [address, address + bytes) of `pe`: in the cache now, at the target by the next release
  // at the latest.
  void put(int pe, uint64_t address, const void* from, size_t bytes) {
    if (!put_quickly(pe, address, from, bytes)) [[unlikely]]
      put_slowly(pe, address, from, bytes);
  }
  // Returns true if every byte can be read without the network. Changes nothing.
  bool holds(int pe, uint64_t address, size_t bytes) const;

  // Returns true if some of these bytes are being fetched already.
  bool awaits(int pe, uint64_t address, size_t bytes) const;
  // Returns true if this process wrote the byte and its put is not known to be complete.
  bool wrote(int pe, uint64_t address) const;

  // A hint: starts fetching what is not cached yet. Never waits. Does nothing if there is no room
  // or nothing is known of the address; clips the range to the extent of `address`.
  void prefetch(int pe, uint64_t address, size_t bytes);
  // Returns how many accesses ahead a program should prefetch: as many as are useful and fit into
  // the staging area.
  uint64_t prefetch_distance() const;

  // Makes everything read so far stale; written bytes stay. O(1).
  void acquire();
  // Starts the puts of all dirty bytes. Does not wait.
  void start_write_back();
  // Returns when everything written is at its target.
  void release();
  // Tells the cache that the front end itself has made the context quiet, after start_write_back().
  void quieted();
  // Tells the cache that the program has ordered or completed its writes. The next word that it
  // puts may be a flag and is put at once, because the program may make no call for a long time
  // after it.
  void flag_may_follow() { flag_may_follow_ = true; }

  // The next four functions are called before the front end accesses [address, address + bytes) of
  // `pe` directly, bypassing the cache.
  //
  // Before a read: what was written here is put, and completed.
  void before_direct_get(int pe, uint64_t address, size_t bytes);
  // Before a write of the whole range: nothing of it is kept, and puts to it in flight are ordered
  // before the write.
  void before_direct_put(int pe, uint64_t address, size_t bytes);
  // Before a change of parts of it (an atomic or a strided put): what was written here is put and
  // ordered before the change. Nothing is kept.
  void before_direct_update(int pe, uint64_t address, size_t bytes);
  // Like before_direct_update(), but for a call that returns only when the change is made, such as
  // a fetching atomic: nothing needs to wait for it later.
  void before_direct_fetch(int pe, uint64_t address, size_t bytes);

  // Called after before_direct_update() of two ranges that one call will change: the fence that
  // made way for the second one comes before the call, so it does not order the change of the first
  // one, which is this.
  void not_issued_yet(int pe, uint64_t address, size_t bytes);

  // Tells the cache that someone else has just changed [address, address + bytes) of `pe`: what was
  // read of it is no longer served.
  void overtaken(int pe, uint64_t address, size_t bytes);

  // Forgets [address, address + bytes) of every PE, including dirty bytes, which are never put.
  void forget(uint64_t address, size_t bytes);

  // Returns how often the reads looked as if the program were waiting for another PE's answer. Each
  // time the write-back of this cache was started; starting that of others is up to the front end.
  uint64_t waits_suspected() const { return waits_suspected_; }

  bool dirty() const;      // something may not have been put yet
  bool in_flight() const;  // a put or a fetch ahead may be in flight
  const PageCacheCounters& counters() const;
  uint64_t valid_bytes() const { return valid_lines_ << line_shift_; }  // that may be served

  // Checks the invariants, for tests. Returns nullptr, or what is wrong.
  const char* broken() const;

  // The fast path of get(). Returns true if the read was served.
  bool hit(int pe, uint64_t address, void* to, size_t bytes) {
    const uint64_t number = address >> page_shift_;
    Page& page = pool_.likely(pe, number);
    if (page.number != number || page.pe != pe || page.epoch != epoch_) return false;
    const size_t offset = address & page_mask_;
    const size_t last = offset + bytes - 1;
    if (last > page_mask_) return false;
    const uint64_t lines = lines_between(offset >> line_shift_, last >> line_shift_);
    if ((page.quick & lines) != lines || reader_.polls.quick_hit(address)) return false;
    page.referenced = 1;
    reader_.hit_bytes += bytes;
    std::memcpy(to, data_ + (static_cast<size_t>(&page - &pool_[0]) << page_shift_) + offset,
                bytes);
    return true;
  }
  // Like hit(), but without the lock that all other calls require. Each thread passes a reader of
  // its own; other threads may hold the lock or call this function at the same time. Sees every
  // change that the calling thread has learned of, and possibly later ones. If it returns false,
  // `to` may have been overwritten. pre: unlocked_hits
  __attribute__((always_inline)) bool hit_unlocked(PageReader& reader, int pe, uint64_t address,
                                                   void* to, size_t bytes) {
    const size_t offset = address & page_mask_;
    if (offset + bytes - 1 > page_mask_) return hit_pages_unlocked(reader, pe, address, to, bytes);
    const uint64_t removals = pool_.removals_unlocked();
    return load_unlocked(pe, address, to, bytes) && was_hit(reader, removals, address, bytes);
  }
  // Called when hit_unlocked() has returned false. Returns true if the only reason was that a read
  // was due for inspection and there was nothing to be done; the hit may then be tried again. Needs
  // no lock.
  bool looked(PageReader& reader) const {
    return reader.polls.time_to_look() && reader.uncounted_hits() < most_uncounted_hits &&
           nothing_to_do(reader.polls);
  }
  // Adds to the counters what a reader has read without the lock.
  void count(PageReader& reader) const;
  // The fast path of put(). Returns true if the page was at hand and has been written. The caller
  // need not know whether the bytes may be cached. Compilers would inline only parts of it.
  __attribute__((always_inline)) bool put_quickly(int pe, uint64_t address, const void* from,
                                                  size_t bytes) {
    const uint64_t number = address >> page_shift_;
    Page& page = pool_.likely(pe, number);
    if (page.number != number || page.pe != pe || page.epoch != epoch_ || page.written <= 0 ||
        flag_may_follow_)
      return false;
    const size_t offset = address & page_mask_;
    if (offset + bytes > page_mask_ + 1) return false;
    write_in_page(page, static_cast<uint16_t>(page.written), offset, from, bytes);
    return true;
  }

 private:
  using Mask = WriteMasks::Mask;

  // The number of hits that a thread may serve without the lock before it has to report them: the
  // heuristics need to know of hits. Taking the lock costs as much as some ten hits.
  static constexpr uint64_t most_uncounted_hits = 4096;

  // Prefetched lines arrive together: the first use of one waits for all that are in flight. A
  // distance of 64 therefore means one wait in 64 uses.
  static constexpr uint64_t longest_prefetch_distance = 64;

  static uint64_t lines_between(size_t first, size_t last) {
    return ((uint64_t{2} << (last - first)) - 1) << first;
  }

  // The number of reads from the network after which write-back is started although nobody asked
  // for it. A put costs half as much as a get, so this adds about 1%.
  static constexpr uint32_t reads_a_write_back = 64;

  char* frame(const Page& page) const {
    return data_ + (static_cast<size_t>(pool_.index_of(page)) << page_shift_);
  }
  Mask& written(const Page& page) const { return masks_[mask_number(page)]; }
  static uint32_t mask_number(const Page& page) {
    return static_cast<uint32_t>(page.written & ~Page::not_quick);
  }
  ByteMask dirty(Mask& m) const { return masks_.dirty(m); }
  ByteMask flying(Mask& m) const { return masks_.flying(m); }
  size_t page_bytes() const { return page_mask_ + 1; }
  size_t line_bytes() const { return size_t{1} << line_shift_; }
  uint64_t address_of(const Page& page) const { return page.number << page_shift_; }
  uint64_t lines_of(size_t begin, size_t end) const {
    return lines_between(begin >> line_shift_, (end - 1) >> line_shift_);
  }

  void write_in_page(Page& page, uint32_t mask, size_t offset, const void* from, size_t bytes) {
    masks_.set_dirty(masks_[mask], offset, offset + bytes);
    store_bytes(frame(page) + offset, from, bytes);
    page.referenced = 1;
    maybe_dirty_ = true;
    ++counters_.puts;
    counters_.put_bytes += bytes;
  }

  // Copies bytes that lie in one page, if the page appears to be cached; was_hit() then tells
  // whether they were that page's.
  __attribute__((always_inline)) bool load_unlocked(int pe, uint64_t address, void* to,
                                                    size_t bytes) {
    const size_t offset = address & page_mask_;
    const uint64_t lines =
        lines_between(offset >> line_shift_, (offset + bytes - 1) >> line_shift_);
    Page* page = pool_.find_unlocked(pe, address >> page_shift_);
    if (page == nullptr || page->epoch.load() != epoch_.load() ||
        (page->quick.load() & lines) != lines)
      return false;
    load_bytes(to, frame(*page) + offset, bytes);
    if (page->referenced.load() == 0) page->referenced = 1;
    return true;
  }
  bool was_hit(PageReader& reader, uint64_t removals, uint64_t address, size_t bytes) const {
    if (pool_.removals_unlocked() != removals || reader.polls.quick_hit(address)) return false;
    reader.hit_bytes += bytes;
    return true;
  }
  bool hit_pages_unlocked(PageReader& reader, int pe, uint64_t address, void* to, size_t bytes);

  void get_slowly(PageReader& reader, int pe, uint64_t address, void* to, size_t bytes);
  void put_slowly(int pe, uint64_t address, const void* from, size_t bytes);

  // page_cache.cpp: pages
  Page* current(int pe, uint64_t number);  // nullptr if not cached; drops stale data first
  Page& take(int pe, uint64_t number);     // current(), or a new page, which may evict another
  void refresh(Page& page);
  void empty(Page& page);  // before eviction: puts its dirty bytes, drops its mask
  void ahead_unused(Page& page);
  void lose_valid(Page& page, uint64_t lines);
  bool known(const Page& page, size_t begin, size_t end) const;
  bool use(Page& page, size_t begin, size_t end);  // known(); if so, marks the bytes as used
  void look(PageReader& reader, int pe, uint64_t address, size_t bytes);
  bool nothing_to_do(PollDetector& polls) const;
  double now_ns() const { return transport_->now_ns(); }
  bool reads_go_around(int pe, uint64_t number);
  uint64_t hits_so_far() const { return counters_.hits + reader_.uncounted_hits(); }
  void drop_lines(int pe, uint64_t address, size_t bytes);

  bool awaited(const Page& page) const;  // page_cache_check.cpp

  // page_cache_fetch.cpp: from the network
  bool fetch(int pe, uint64_t begin, uint64_t end, uint64_t wanted_end);
  void get_past(int pe, uint64_t address, void* to, size_t bytes);
  void fetch_uncached(int pe, uint64_t begin, uint64_t end, char* to);
  void fetch_lines(int pe, const Extent& lines, const Extent& demanded);
  void fetch_strides(int pe, const Extent& access, const Extent& around, int64_t stride,
                     int strides);
  void arrived(Page& page, size_t begin, size_t end, const Extent& demanded);
  void merge(Page& page, size_t begin, size_t end, const char* from);
  void merge_arrival(const Arrivals::Arrival& arrival);
  bool fetch_ahead(int pe, Extent lines);
  void follow_stream(int pe, uint64_t address);
  bool wanted(int pe, uint64_t line);
  void complete();
  Extent lines_around(const Extent& bytes, const Extent& around) const;
  Extent whole_lines(const Extent& bytes, const Extent& around) const;
  uint64_t longest_fetch() const;

  // page_cache_write.cpp: to the network
  void attach(Page& page);
  void detach(Page& page);  // drops its mask; bytes in flight become lost
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

  // Members that a hit reads come first, in one line of the processor's cache.
  PagePool pool_;
  char* data_ = nullptr;
  int page_shift_ = 10, line_shift_ = 6;
  size_t page_mask_ = 1023;
  Published<uint32_t> epoch_ = 1;
  mutable PageReader reader_;  // for reads with the lock held
  WriteMasks masks_;

  uint32_t network_reads_ = 0;
  uint64_t waits_suspected_ = 0;
  bool maybe_dirty_ = false;      // false: no byte is dirty
  bool flag_may_follow_ = false;  // the next put of at most a word is issued at once
  PageTransport* transport_ = nullptr;
  PageCacheOptions options_;
  Region region_;
  InFlight lost_;             // in flight since the last quiet, and held by no page
  InFlight unfenced_;         // the part of lost_ that was issued since the last fence
  bool puts_flying_ = false;  // some put was issued since the last quiet
  Arrivals* arrivals_ = nullptr;
  char* fetched_ = nullptr;   // staging area of blocking gets
  char* sent_ = nullptr;      // staging area of puts that span pages
  size_t staging_bytes_ = 0;  // of each staging area; the arrivals have twice as many
  Readahead readahead_;
  ScatteredReads scattered_reads_;
  ScatteredPuts scattered_puts_;
  uint64_t valid_lines_ = 0;
  uint64_t prefetch_bytes_ = 0;  // bytes of a prefetch, as a moving average
  // when the first inspection since the last acquire was; 0: there was none yet
  Published<double> fresh_since_ns_ = 0;
  double get_ns_ = 0;  // total time of counters_.timed_gets
  mutable PageCacheCounters counters_;
};

}  // namespace nearcache
