// SPDX-License-Identifier: BSD-3-Clause

// What the page cache requires of the layer below it: one-sided transfers in one ordering domain
// (an OpenSHMEM context).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace nearcache {

// A range [begin, end) around an access whose bytes may be fetched with it.
struct Extent {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Addresses are symmetric: they are those of the object in this process. Completion is as in
// OpenSHMEM 1.4, section 9.
class PageTransport {
 public:
  // The data is at `to` on return.
  virtual void get(void* to, uint64_t address, size_t bytes, int pe) = 0;
  // The data is at `to` after the next quiet().
  virtual void get_nbi(void* to, uint64_t address, size_t bytes, int pe) = 0;
  // `from` may be reused on return; the data is at the target after the next quiet().
  virtual void put(uint64_t address, const void* from, size_t bytes, int pe) = 0;
  // Orders puts issued before it ahead of puts and atomics issued after it, for each PE.
  virtual void fence() = 0;
  // Completes everything in flight, including what others than the cache have started in this
  // domain. Does not call back into the cache.
  virtual void quiet() = 0;
  // Returns the part of the address space around [address, address + bytes) that may be read at
  // every PE without a fault; it contains the range itself. Empty if nothing is known of the range:
  // then nothing of it is cached. No cache line contains bytes of two extents, and an extent grows
  // only before an acquire.
  virtual Extent extent(uint64_t address, size_t bytes, int pe) = 0;
  // Returns false if some of these bytes must not be cached: transfers of them bypass the cache.
  // That becomes so only while nothing written is dirty or in flight.
  virtual bool may_cache(uint64_t /*address*/, size_t /*bytes*/) { return true; }

  // Reports a get that was answered but not on the fast path: every get that needed the network,
  // and one in PollDetector::reads_a_look of all gets, which may have been answered `from_cache`.
  // For reports; called only with PageCacheOptions::answers_told.
  virtual void answered(int /*pe*/, uint64_t /*address*/, size_t /*bytes*/, bool /*from_cache*/) {}

  // Returns nanoseconds since some fixed time, by the clock that applies to the transfers (it may
  // be virtual).
  virtual double now_ns() { return ticks_to_ns(clock_ticks()); }

 protected:
  ~PageTransport() = default;
};

}  // namespace nearcache
