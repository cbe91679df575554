// Which heuristics the page cache uses: all of them, except when bench/run pages measures what each
// is worth.
#pragma once

namespace nearcache {

struct PageHeuristics {
  bool streams = true;  // what goes on where a fetch ended is fetched in larger pieces,
  bool early = true;    // and the next piece before it is missed
  bool strides = true;  // what goes on at a distance is fetched ahead
  // streams and strides are looked for less often where there are none
  bool doubt = true;
  bool near = true;             // what lies around a miss is fetched with it,
  bool grow = true;             // and more where misses come back to pages that are here
  bool limit = true;            // less is fetched ahead where it goes unused
  bool scattered_reads = true;  // reads that never come back go past the cache
  bool scattered_puts = true;   // puts of a few bytes here and there go around the pages
};

}  // namespace nearcache
