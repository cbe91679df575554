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

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cache/page_transport.h"
#include "core/region.h"

namespace nearcache {

struct PageCacheOptions {
  size_t size = 1 << 20;         // bytes of pages
  size_t page = 1024;            // bytes, a power of two, 256 to 65536
  size_t line = 64;              // bytes, a power of two, page/64 to page
  size_t dirty_pages = 64;       // pages with written bytes at a time, at most
  size_t readahead = 32 << 10;   // bytes fetched ahead at once, at most; 0: never
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
  PageCache() = default;
  PageCache(const PageCache&) = delete;
  PageCache& operator=(const PageCache&) = delete;

  // Takes its memory. False, and the cache stays unusable, when the system refuses. pre: options are in their ranges.
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
  uint64_t prefetch_distance() const { return prefetch_distance_; }

  // Nothing read before is served afterwards; written bytes stay. O(1).
  void acquire();
  // Starts the puts of everything dirty; does not wait.
  void start_write_back();
  // Everything written is at its target.
  void release();
  // The front end has made the context quiet itself, after start_write_back().
  void quieted();

  // The front end is about to access [address, address + bytes) of `pe` past the cache:
  // - to read: what was written here is put and complete before;
  void before_direct_get(int pe, uint64_t address, size_t bytes);
  // - to write all of it: nothing of it is kept, and puts of it in flight come first;
  void before_direct_put(int pe, uint64_t address, size_t bytes);
  // - to change some of it (atomics, strided puts): what was written here is put before and ordered before; nothing is kept.
  void before_direct_update(int pe, uint64_t address, size_t bytes);

  // Forgets [address, address + bytes) of every PE: dirty bytes too, which are never put.
  void forget(uint64_t address, size_t bytes);

  bool dirty() const;      // something is not put yet
  bool in_flight() const;  // something is under way: puts, or what is fetched ahead
  const PageCacheCounters& counters() const;

  // Checks every invariant of the structure; for tests. Returns nullptr or what is wrong.
  const char* broken() const;

  // The quick way of get(): true when served.
  bool hit(int pe, uint64_t address, void* to, size_t bytes);
  // The quick way of put(): true when the page was at hand.
  bool put_quickly(int pe, uint64_t address, const void* from, size_t bytes);
};

}  // namespace nearcache
