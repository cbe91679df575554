// SPDX-License-Identifier: BSD-3-Clause

// Which heuristics the page cache uses: all of them, except when `bench/run pages` measures what
// each is worth.
#pragma once

namespace nearcache {

struct PageHeuristics {
  bool streams = true;  // accesses that continue where a fetch ended are fetched in larger pieces
  bool early = true;    // the next piece of a stream is fetched before it is missed
  bool strides = true;  // accesses at equal distances are fetched ahead
  // streams and strides are looked for less often if there are none
  bool doubt = true;
  bool near = true;             // bytes around a miss are fetched with it
  bool grow = true;             // more of them if misses hit pages that are already cached
  bool limit = true;            // less is fetched ahead if much of it goes unused
  bool scattered_reads = true;  // reads that never repeat bypass the cache
  bool scattered_puts = true;   // scattered puts of a few bytes bypass the pages
};

}  // namespace nearcache
