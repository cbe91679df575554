// What the page cache asks of the layer below it: one-sided transfers of one ordering domain (an
// OpenSHMEM context).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace nearcache {

// The bytes around an access that may be fetched with it, [begin, end).
struct Extent {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Addresses are symmetric ones: where the object lies in this process. Completion is as in
// OpenSHMEM 1.4, section 9.
class PageTransport {
 public:
  // The data are at `to` when it returns.
  virtual void get(void* to, uint64_t address, size_t bytes, int pe) = 0;
  // The data are at `to` after the next quiet().
  virtual void get_nbi(void* to, uint64_t address, size_t bytes, int pe) = 0;
  // `from` may be changed when it returns; the data are at the target after the next quiet().
  virtual void put(uint64_t address, const void* from, size_t bytes, int pe) = 0;
  // Puts to one PE before it are delivered before puts and atomics to it after.
  virtual void fence() = 0;
  // Completes everything under way, also what others than the cache started in this domain. Calls
  // nothing back.
  virtual void quiet() = 0;
  // The part of the address space around [address, address + bytes) that may be read at every PE
  // without a fault; it contains the range itself. Empty when nothing is known of that range: then
  // nothing of it is kept. No line of the cache has bytes of two extents, and an extent grows only
  // before an acquire.
  virtual Extent extent(uint64_t address, size_t bytes, int pe) = 0;

  // A get was answered that did not go the quick way: told of every one that needed the network,
  // and of one in PollDetector::reads_a_look of all, which may be `from_cache`. For reports, by
  // PageCacheOptions::answers_told.
  virtual void answered(int /*pe*/, uint64_t /*address*/, size_t /*bytes*/, bool /*from_cache*/) {}

  // Nanoseconds since some moment: the time in which transfers take what they take.
  virtual double now_ns() { return ticks_to_ns(clock_ticks()); }

 protected:
  ~PageTransport() = default;
};

}  // namespace nearcache
