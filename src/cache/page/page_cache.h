// The page cache: a write-back cache of other PEs' memory, one per context (Ferguson and Buettner,
// PGAS 2015, section III).
//
// Memory is cached in pages of lines, which are fetched, and bytes, which are written. Only bytes
// that the program wrote are ever put, so that PEs which write to different bytes of a line do not
// overwrite each other. OpenSHMEM completes transfers only all together, by a quiet that is a round
// trip of its own, so the cache waits as seldom as it can: what is demanded is fetched by a
// blocking get, what is fetched ahead arrives in a staging area and is merged at the next quiet
// around what was written meanwhile.
//
// What a byte of a page can be. Its line is absent, pending (on its way into the staging area) or
// valid; the byte itself may besides be dirty (this process wrote it, and nobody has put it) and in
// flight (its put was issued, and no quiet came since). What is called absent below need not even
// have a page. A byte that is lost is in flight and in no page: only InFlight knows of it, by line,
// and may name too many.
//
//  byte      line    dirty in flight a read of it   put   put back   quiet     acquire   eviction
//  absent    absent  -     -         fetches line   dirty -          -         -         -
//  pending   pending -     -         waits by quiet dirty -          clean     absent    absent
//  clean     valid   -     -         is served      dirty -          -         absent    absent
//  dirty     any     yes   -         is served      -     in flight  -         -         lost [4]
//  in flight any     -     yes       is served      both  -          clean [1] lost      lost
//  both      any     yes   yes       is served      -     in fl. [2] dirty     dirty [3] lost [4]
//  lost      -       -     yes       quiet, fetch   dirty -          absent    -         -
//
//   [1] if its line was written whole since the acquire, or is valid; absent otherwise.
//   [2] behind a fence.
//   [3] and what is in flight of it is lost.
//   [4] by its put.
//
// What goes past the cache moves bytes too. Before a direct get of it a dirty byte is put back, and
// a quiet completes what is in flight. A direct put makes any byte lost; so does an atomic or
// strided put, which a fence orders behind what was dirty or in flight; a fetching atomic, which is
// done when it returns, leaves a byte absent that was not written. Of what another context has
// changed (overtaken) clean and pending bytes become absent, those in flight lost, and dirty ones
// stay: they are put after it. forget() makes all of it absent, or lost where it was in flight.
//
// Invariants. broken() checks the first ten and the last after every operation of the unit and fuzz
// tests and cites them; the others are checked by the transport and the model of these tests
// (tests/fuzz/lazy_transport.h, page_model.h), which know what the program wrote and what it may
// see.
//
//      1  A line is ahead (fetched before it was asked for, and not used yet) only if it is valid.
//      2  A hit serves at once what is valid and not ahead: `quick` is always that.
//      3  No line is both valid and pending.
//      4  A line is pending only for an arrival that was asked for since the last acquire: a read
//         that waits for it waits once.
//      5  A page has a write mask exactly while a byte of it is dirty or in flight, and page and
//         mask name each other.
//      6  Every mask is either free or in the list of written pages, oldest first.
//      7  All that is set in a mask lies within its bounds.
//      8  While a byte is dirty maybe_dirty_ is set, while one is in flight puts_flying_ is: a
//         release passes neither over.
//      9  What awaits a fence (unfenced_) awaits a quiet, too (lost_).
//     10  A page is in its hash's chain and in one queue; a frame without a page is in no chain.
//     11  Only bytes that the program wrote are put, with the value that it wrote last, and each is
//         put, unless forgotten.
//     12  Two puts of a byte are never under way at a time, and no atomic beside a put, unless a
//         fence came between them.
//     13  Nothing is fetched from under a put in flight unless its page still holds the bytes that
//         the fetch may miss.
//     14  What was read before an acquire is not served after it, in particular not what arrives
//         after it.
//     15  A line is valid only if all of it was fetched or written that can be read there: extents
//         end where memory does.
//     16  valid_lines_ counts the valid lines of pages that no acquire has made stale.
//
// What it may cost.
//
// - A hit: the multiplication of the hash, the loads of its chain's head and of the page's state
//   (one line of the processor's cache), and the copy; some 80 instructions for a word. It must not
//   call anything, read the time, move a page in a list (so Am is a clock with a flag, not a list
//   by last use), or write anything but that flag and the cache's own counts. Every 47th read is
//   looked at, as a program may be polling, and costs some 300.
// - A put to a page that has a mask already: the same, with bits set in the mask in the place of
//   the lines' test; about 100 instructions. The first put to a page takes a mask, and where there
//   is none left puts back the page that was written longest ago: a put is buffered by the
//   transport, so that no put waits for the network, but for the fence of invariant 12.
// - A miss: one blocking get, of microseconds. What it does besides is some 450 instructions where
//   the read is passed on, and up to 1,200 where it is cached: most of it for finding streams,
//   taking the page and emptying its predecessor. It waits for a quiet only where invariant 13
//   makes it, or where its line is pending. A fetch ahead never waits: it is dropped where there is
//   no room.
//
// What is guessed, and what each guess gains, is in docs/architecture.md; `bench/run pages`
// measures it with each one switched off.
//
// What was tried and given up:
//
// - Arrival straight into the pages: a put to the page, or its eviction, had to wait for the quiet.
// - One list of all direct writes, that dropped their ranges at each quiet: programs of atomics
//   lost all that they had read. So InFlight is a set that may say yes too often, and forgets all
//   at each quiet.
// - Keeping the part of a line that lies inside of an extent: two extents met in one line, and it
//   was served whole. Hence invariant 15.
// - Taking a fetching atomic for a write under way, as it has the form of one: the next get of its
//   line paid a quiet.
// - Masks without bounds: looking for set bits in a whole page cost more than the put of a few
//   bytes.
// - Every miss looked for streams, and all reads were cached: reads here and there paid 1,200
//   instructions each for pages that nobody asked for again (Readahead's doubt, ScatteredReads).
// - A prefetch distance that was learned from measured waits: of words it took 3 to 16% longer than
//   always 64, and of 2 KiB each, where it asked for more than the staging area holds, two to three
//   times as long as what fits.
// - Fetching less ahead as soon as two of three lines were unused, counted by 64: a line costs 50
//   ns and saves microseconds, and evictions show unused lines in bursts. Now one of eight must be
//   used, of a thousand: runs of 256 B take 40% less time, a search of a graph a third.
// - Strided fetches of the element's line alone: the next column of a matrix found nothing. Now
//   what lies around each comes with it, in 36 to 65% less time.
//
// Threads. The front end locks, all but hit_unlocked(). That one reads a page's state (published.h)
// and copies bytes while others may be changing both. Two things make what it serves right:
// - `quick` is taken back before a line's bytes become what may not be served, and set after they
//   have become what may. In between they change from one value that may be served to another.
// - A frame goes to another page only after its page was removed. Removals are counted. As many as
//   before the page was looked for there must be after its bytes were copied: so they are its own.
// A thread that learned of a put, an acquire or anything else that was done under the lock finds it
// done. It writes nothing that others do but `referenced`; a PageReader of its own counts its hits.
//
// No system call, no allocation after create(). All state lies in one region.
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
  size_t size = 1 << 20;  // bytes of pages
  size_t page = 1024;     // bytes, a power of two, 256 to 65536
  size_t line = 64;       // bytes, a power of two, page/64 to page
  // pages with written bytes at a time, at most; taken as one of 1 to 65,535, and to the number of
  // pages
  size_t dirty_pages = 64;
  // bytes fetched ahead at once, at most; 0: never. More than 1 GiB is taken as that
  size_t readahead = 32 << 10;
  bool answers_told = false;  // PageTransport::answered is called
  // Nothing is served that was fetched longer ago than this, even to a program that never
  // synchronises and polls among many other reads: refetching a full cache a second costs less than
  // a hundredth of it.
  double longest_age_ns = 1e9;
  // hit_unlocked() is called: nothing comes into pages but by copies
  bool unlocked_hits = false;
  PageHeuristics heuristics;
};

// What one thread reads of a cache: whether it polls, and its hits.
struct PageReader {
  uint64_t hit_bytes = 0;
  PollDetector polls;
  // those that are in the cache's counters already
  uint64_t counted_hits = 0, counted_hit_bytes = 0;

  uint64_t uncounted_hits() const { return polls.quick_hits() - counted_hits; }
};

// What happened, since create(). Bytes and calls.
struct PageCacheCounters {
  // accesses served: reads, of these without the network, writes
  uint64_t gets = 0, hits = 0, puts = 0;
  uint64_t get_bytes = 0, hit_bytes = 0, put_bytes = 0;
  uint64_t network_gets = 0, network_get_bytes = 0;  // transfers issued
  uint64_t network_puts = 0, network_put_bytes = 0;
  uint64_t quiets = 0, fences = 0;  // issued by the cache for order or arrival
  uint64_t readaheads = 0, prefetches = 0, prefetches_dropped = 0;
  // lines fetched before they were asked for; of these used
  uint64_t ahead_lines = 0, ahead_lines_used = 0;
  uint64_t evictions = 0, acquires = 0, releases = 0, polls = 0;
  uint64_t dropped_bytes = 0;           // valid lines that acquires made stale
  uint64_t get_ns = 0, timed_gets = 0;  // of demand fetches that were timed
};

class PageCache {
 public:
  PageCache();  // holds nothing and serves nothing until create()
  PageCache(const PageCache&) = delete;
  PageCache& operator=(const PageCache&) = delete;

  // Takes its memory. False, and the cache stays unusable, when the system refuses. pre: size, page
  // and line are in their ranges.
  bool create(const PageCacheOptions& given, PageTransport* transport);
  // Bytes of memory that create() takes at most.
  static size_t memory_bytes(const PageCacheOptions& options);

  // Reads [address, address + bytes) of `pe`.
  void get(int pe, uint64_t address, void* to, size_t bytes) {
    if (!hit(pe, address, to, bytes)) [[unlikely]]
      get_slowly(reader_, pe, address, to, bytes);
  }
  // The same by a thread that reads by hit_unlocked() first.
  void get(PageReader& reader, int pe, uint64_t address, void* to, size_t bytes) {
    count(reader);
    get_slowly(reader, pe, address, to, bytes);
  }
  // Writes it: here now, at the target by the next release at the latest.
  void put(int pe, uint64_t address, const void* from, size_t bytes) {
    if (!put_quickly(pe, address, from, bytes)) [[unlikely]]
      put_slowly(pe, address, from, bytes);
  }
  // True if every byte can be read without the network; changes nothing.
  bool holds(int pe, uint64_t address, size_t bytes) const;

  // True if some of it is on its way already: it was asked for before now.
  bool awaits(int pe, uint64_t address, size_t bytes) const;
  // True if the byte is as this process wrote it, and its put is not known to be complete.
  bool wrote(int pe, uint64_t address) const;

  // A hint: starts fetching what is not here. Never waits, and does nothing where there is no room
  // or the range is not inside its extent; a range that reaches over its end is clipped.
  void prefetch(int pe, uint64_t address, size_t bytes);
  // How many accesses ahead a program should prefetch: as many as are of use, if what it prefetches
  // finds place.
  uint64_t prefetch_distance() const;

  // Nothing read before is served afterwards; written bytes stay. O(1).
  void acquire();
  // Starts the puts of everything dirty; does not wait.
  void start_write_back();
  // Everything written is at its target.
  void release();
  // The front end has made the context quiet itself, after start_write_back().
  void quieted();
  // The program has ordered or completed what it wrote: the next word that it puts may be a flag,
  // and is put at once, as the program may make no call for long after it.
  void flag_may_follow() { flag_may_follow_ = true; }

  // The front end is about to access [address, address + bytes) of `pe` past the cache:
  // - to read: what was written here is put and complete before;
  void before_direct_get(int pe, uint64_t address, size_t bytes);
  // - to write all of it: nothing of it is kept, and puts of it in flight come first;
  void before_direct_put(int pe, uint64_t address, size_t bytes);
  // - to change some of it (atomics, strided puts): what was written here is put before and ordered
  //   before; nothing is kept;
  void before_direct_update(int pe, uint64_t address, size_t bytes);
  // - the same by a call that returns when the change is made, as a fetching atomic does: nothing
  //   needs to wait for it later.
  void before_direct_fetch(int pe, uint64_t address, size_t bytes);

  // [address, address + bytes) of `pe` was changed by somebody else just now: what was read of it
  // is not served any more.
  void overtaken(int pe, uint64_t address, size_t bytes);

  // Forgets [address, address + bytes) of every PE: dirty bytes too, which are never put.
  void forget(uint64_t address, size_t bytes);

  // How often a get made it seem that the program waits for another PE's answer. What was written
  // here was started then; what was written elsewhere is for the front end to start.
  uint64_t waits_suspected() const { return waits_suspected_; }

  bool dirty() const;      // something is not put yet
  bool in_flight() const;  // something is under way: puts, or what is fetched ahead
  const PageCacheCounters& counters() const;
  uint64_t valid_bytes() const { return valid_lines_ << line_shift_; }  // that a get may be served

  // Checks every invariant of the structure; for tests. Returns nullptr or what is wrong.
  const char* broken() const;

  // The quick way of get(): true when served.
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
  // The same without the lock that all else here needs, by one thread for each reader, while others
  // hold that lock or call this. What they changed before something by which this thread learned of
  // it is seen; what they change meanwhile may be. If it is not served `to` may have been written.
  // pre: unlocked_hits
  __attribute__((always_inline)) bool hit_unlocked(PageReader& reader, int pe, uint64_t address,
                                                   void* to, size_t bytes) {
    const size_t offset = address & page_mask_;
    if (offset + bytes - 1 > page_mask_) return hit_pages_unlocked(reader, pe, address, to, bytes);
    const uint64_t removals = pool_.removals_unlocked();
    return load_unlocked(pe, address, to, bytes) && was_hit(reader, removals, address, bytes);
  }
  // If that was not served because it is time to look: whether there was nothing to be done, and it
  // may be tried again. Without the lock, too.
  bool looked(PageReader& reader) const {
    return reader.polls.time_to_look() && reader.uncounted_hits() < most_uncounted_hits &&
           nothing_to_do(reader.polls);
  }
  // Adds to the counters what a reader has read without the lock.
  void count(PageReader& reader) const;
  // The quick way of put(): true when the page was at hand.
  bool put_quickly(int pe, uint64_t address, const void* from, size_t bytes) {
    const uint64_t number = address >> page_shift_;
    Page& page = pool_.likely(pe, number);
    if (page.number != number || page.pe != pe || page.epoch != epoch_ || page.written == 0 ||
        flag_may_follow_)
      return false;
    const size_t offset = address & page_mask_;
    if (offset + bytes > page_mask_ + 1) return false;
    write_in_page(page, offset, from, bytes);
    return true;
  }

 private:
  using Mask = WriteMasks::Mask;

  // Of a thread that reads without the lock. The guesses need to know of hits, and the lock costs
  // what some ten do.
  static constexpr uint64_t most_uncounted_hits = 4096;

  // Prefetched lines arrive together: the first use of one waits for all that are under way. So a
  // distance of 64 is a wait in 64 uses.
  static constexpr uint64_t longest_prefetch_distance = 64;

  static uint64_t lines_between(size_t first, size_t last) {
    return ((uint64_t{2} << (last - first)) - 1) << first;
  }

  // Reads from the network between two starts of write-back that nobody asked for: a put costs half
  // of what a get does, so this adds a hundredth.
  static constexpr uint32_t reads_a_write_back = 64;

  char* frame(const Page& page) const {
    return data_ + (static_cast<size_t>(pool_.index_of(page)) << page_shift_);
  }
  Mask& written(const Page& page) const { return masks_[page.written]; }
  ByteMask dirty(Mask& m) const { return masks_.dirty(m); }
  ByteMask flying(Mask& m) const { return masks_.flying(m); }
  size_t page_bytes() const { return page_mask_ + 1; }
  size_t line_bytes() const { return size_t{1} << line_shift_; }
  uint64_t address_of(const Page& page) const { return page.number << page_shift_; }
  uint64_t lines_of(size_t begin, size_t end) const {
    return lines_between(begin >> line_shift_, (end - 1) >> line_shift_);
  }

  void write_in_page(Page& page, size_t offset, const void* from, size_t bytes) {
    masks_.set_dirty(written(page), offset, offset + bytes);
    store_bytes(frame(page) + offset, from, bytes);
    page.referenced = 1;
    maybe_dirty_ = true;
    ++counters_.puts;
    counters_.put_bytes += bytes;
  }

  // What lies in one page, if it is here; was_hit() tells whether it was that.
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
  Page* current(int pe, uint64_t number);  // the page with nothing stale in it, or nullptr
  Page& take(int pe, uint64_t number);     // the same, newly if need be; another page may go
  void refresh(Page& page);
  void empty(Page& page);  // puts what is dirty, and forgets the rest
  void ahead_unused(Page& page);
  void lose_valid(Page& page, uint64_t lines);
  bool known(const Page& page, size_t begin, size_t end) const;
  bool use(Page& page, size_t begin, size_t end);  // whether it is known; marks it as used
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

  // What a hit reads comes first, in one line of the processor's cache.
  PagePool pool_;
  char* data_ = nullptr;
  int page_shift_ = 10, line_shift_ = 6;
  size_t page_mask_ = 1023;
  Published<uint32_t> epoch_ = 1;
  mutable PageReader reader_;  // of those who read with the lock
  WriteMasks masks_;

  uint32_t network_reads_ = 0;
  uint64_t waits_suspected_ = 0;
  bool maybe_dirty_ = false;      // false: no byte is dirty
  bool flag_may_follow_ = false;  // the next put of at most a word is put at once
  PageTransport* transport_ = nullptr;
  PageCacheOptions options_;
  Region region_;
  InFlight lost_;             // under way since the last quiet, and held by no page
  InFlight unfenced_;         // of these, what was issued since the last fence
  bool puts_flying_ = false;  // a put was issued since the last quiet
  Arrivals* arrivals_ = nullptr;
  char* fetched_ = nullptr;   // staging of blocking gets
  char* sent_ = nullptr;      // staging of puts across pages
  size_t staging_bytes_ = 0;  // of each
  Readahead readahead_;
  ScatteredReads scattered_reads_;
  ScatteredPuts scattered_puts_;
  uint64_t valid_lines_ = 0;
  uint64_t prefetch_bytes_ = 0;  // of one prefetch: a mean of the last ones
  // the first look after the last acquire; 0: there was none
  Published<double> fresh_since_ns_ = 0;
  double get_ns_ = 0;  // of counters_.timed_gets
  mutable PageCacheCounters counters_;
};

}  // namespace nearcache
