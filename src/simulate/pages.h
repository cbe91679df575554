// A simulation of OpenSHMEM traces: every PE's accesses go through the library's page cache, one
// for each context, over a network modelled by the cost of transfers, in virtual time; and the same
// accesses without a cache, for comparison.
//
// The network: a blocking get takes L + size * G; a put, a non-blocking get and an atomic that
// returns nothing take a put's time, and are there L + size * G later; a quiet waits for what is
// under way, and takes its own time if something is. Only communication takes time, so nothing is
// hidden behind the program's computation, neither with the cache nor without it.
#pragma once

#include <string>
#include <vector>

#include "cache/page/page_cache.h"
#include "simulate/study.h"

namespace nearcache::simulate {

// What operations cost, in ns; means of what was measured, without the slowest fiftieth.
struct PageCosts {
  Cost get;
  double put_ns = 0, quiet_ns = 0;
  std::string from;  // "trace", "model" or "assumed"
};

// Over all PEs and contexts.
struct PageResult {
  uint64_t storage_bytes = 0;  // of a context's cache
  double ns = 0;               // of communication, summed over PEs
  PageCacheCounters counters;
};

struct PageStudy {
  Traces traces;
  PageCosts costs;
  uint64_t gets = 0, get_bytes = 0, puts = 0, put_bytes = 0, atomics = 0, quiets = 0, acquires = 0;
  double uncached_ns = 0;
  std::vector<PageResult> rows;  // by storage
};

// Whether all traces are of OpenSHMEM. An error if only some of them are.
std::string are_pages(const StudyOptions& options, bool* pages);

// Returns an empty string, or what is wrong.
std::string run_pages(const StudyOptions& options, PageStudy* study);

std::string pages_text(const PageStudy& study);
std::string pages_csv(const PageStudy& study);
std::string pages_json(const PageStudy& study);

}  // namespace nearcache::simulate
