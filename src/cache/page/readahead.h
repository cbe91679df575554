// How much more than requested a fetch brings in: forward, backward, with a stride, or surrounding
// data.
//
// Up to 8 streams are watched at once. A fetch where a stream's last one ended continues it, and
// fetches twice as much as the one before, up to a limit; two equal distances make a strided
// stream, whose next elements are fetched ahead. Where nothing continues, and around each element
// of a strided stream, `near` bytes are fetched: more where misses come back to pages that are here
// already. Both the limit and `near` shrink when too little of what they brought is used (Ferguson
// and Buettner, section III.A, fetch a page's rest after two lines, and never less again).
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/page/heuristics.h"
#include "cache/page/page_transport.h"

namespace nearcache {

class Readahead {
 public:
  // `most`: bytes fetched ahead at once, 0 for never; sizes of line and page in bytes.
  void create(size_t most, size_t line, size_t page, const PageHeuristics& heuristics = {});

  struct Plan {
    Extent fetch;  // what to fetch at once, lines; contains what was missed
    // of a strided stream: fetch also `strides` elements further on, not waiting, and what lies
    // around each
    int64_t stride = 0;
    int strides = 0;
  };
  // The lines [begin, end) of `pe` were missed by an access at `address`; `resident`: their page
  // holds other lines.
  Plan missed(int pe, uint64_t address, uint64_t begin, uint64_t end, bool resident);

  // The aligned block of near_bytes() that holds the first of these lines, and all of them.
  Extent near(const Extent& lines) const;

  // Lines at `address` that were fetched ahead are used now. What to fetch next without waiting;
  // empty mostly.
  Extent used(int pe, uint64_t address);
  // That was started, or cannot be: the stream goes on behind it.
  void started(int pe, const Extent& next);

  // Of lines that were fetched ahead, so many were used, or went unused.
  void count(size_t used, size_t unused);

  size_t limit() const { return limit_; }
  size_t near_bytes() const { return near_; }

 private:
  struct Stream {
    int pe = -1;
    int8_t direction = 0;  // of a sequential stream: 1 forward, -1 backward; 0 not known yet
    int8_t repeats = 0;    // how often the distance was `stride`
    uint32_t last_use = 0;
    // between accesses, not between their lines: it need not be a multiple of a line
    int64_t stride = 0;
    uint64_t last = 0;            // the access that missed last
    uint64_t begin = 0, end = 0;  // what was fetched around it
    size_t window = 0;            // bytes of its next fetch
    int depth = 0;                // strided: elements fetched ahead
    int at_limit = 0;             // fetches that the limit has cut short
  };

  // The streams that an access may belong to.
  struct Match {
    Stream* continued = nullptr;  // goes on where its last fetch ended
    Stream* strided = nullptr;    // lies a stride further on
    Stream* nearby = nullptr;     // the nearest that is no strided one
    Stream* oldest = nullptr;
  };
  Match match(int pe, uint64_t address, uint64_t begin, uint64_t end);
  Plan sequential(Stream& stream, uint64_t begin, uint64_t end);
  Plan strided(Stream& stream, uint64_t address, uint64_t begin, uint64_t end);
  void learn_near(bool resident);

  static constexpr int stream_count = 8;
  Stream streams_[stream_count];
  PageHeuristics on_;
  size_t most_ = 0, line_ = 64, page_ = 1024;
  size_t limit_ = 0, near_ = 64;
  uint32_t clock_ = 0;
  int misses_ = 0, resident_misses_ = 0;
  uint32_t unmatched_ = 0;  // misses in a row that went on with nothing
  size_t used_ = 0, unused_ = 0;
};

}  // namespace nearcache
