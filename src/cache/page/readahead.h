// SPDX-License-Identifier: BSD-3-Clause

// Decides how much more than requested a fetch brings in: forward, backward, with a stride, or
// around the miss.
//
// Up to 8 streams are tracked at once. A fetch that begins where a stream's last fetch ended
// continues the stream and is twice as large as the one before, up to a limit. Two equal distances
// make a strided stream, whose next elements are fetched ahead. A miss that continues nothing, and
// each element of a strided stream, is fetched with the `near` bytes around it: more of them if
// misses often hit pages that are already cached. Both the limit and `near` shrink when too little
// of what they brought is used. (Ferguson and Buettner, section III.A, fetch the remainder of a
// page after two lines, and never reduce that.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/page/heuristics.h"
#include "cache/page/page_transport.h"

namespace nearcache {

class Readahead {
 public:
  // `most`: maximum bytes fetched ahead at once, 0 for none. Sizes of lines and pages in bytes.
  void create(size_t most, size_t line, size_t page, const PageHeuristics& heuristics = {});

  struct Plan {
    Extent fetch;  // lines to fetch at once; contains the lines that were missed
    // for a strided stream: also fetch the next `strides` elements without waiting, each with the
    // bytes around it
    int64_t stride = 0;
    int strides = 0;
  };
  // Plans the fetch for an access at `address` that missed the lines [begin, end) of `pe`;
  // `resident`: their page holds other lines.
  Plan missed(int pe, uint64_t address, uint64_t begin, uint64_t end, bool resident);

  // Returns the aligned block of near_bytes() that holds the first of these lines, extended to hold
  // all of them.
  Extent near(const Extent& lines) const;

  // Called when lines at `address` that were fetched ahead are used for the first time. Returns
  // what to fetch next without waiting; usually empty.
  Extent used(int pe, uint64_t address);
  // Called when the fetch of `next` has been started: the stream continues after it.
  void started(int pe, const Extent& next);

  // Reports how many of the lines fetched ahead were used, or went unused.
  void count(size_t used, size_t unused);

  size_t limit() const { return limit_; }
  size_t near_bytes() const { return near_; }

 private:
  struct Stream {
    int pe = -1;
    int8_t direction = 0;  // of a sequential stream: 1 forward, -1 backward; 0: not known yet
    int8_t repeats = 0;    // how often the distance was `stride`
    uint32_t last_use = 0;
    // between accesses rather than their lines, so it need not be a multiple of a line
    int64_t stride = 0;
    uint64_t last = 0;            // address of the last access that missed
    uint64_t begin = 0, end = 0;  // what was fetched around it
    size_t window = 0;            // bytes of its next fetch; 0 if strided
    int depth = 0;                // if strided: number of elements fetched ahead
    int at_limit = 0;             // number of fetches that the limit has cut short
  };

  // The streams that an access may belong to.
  struct Match {
    Stream* continued = nullptr;  // the access is where its last fetch ended
    Stream* strided = nullptr;    // the access is one stride after its last
    Stream* nearby = nullptr;     // the nearest one that is not strided
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
  uint32_t unmatched_ = 0;  // consecutive misses that continued no stream
  size_t used_ = 0, unused_ = 0;
};

}  // namespace nearcache
