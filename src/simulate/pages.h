// SPDX-License-Identifier: BSD-3-Clause

// Simulates OpenSHMEM traces: every PE's accesses go through the library's page cache, one per
// context, over a network modelled by the cost of transfers, in virtual time. The same accesses are
// also simulated without a cache, for comparison.
//
// The network: a blocking get takes L + size * G. A put, a non-blocking get and a non-fetching
// atomic take the time of a put, and complete L + size * G later. A quiet waits for what is in
// flight; if anything is, it also takes its own time. Only communication takes time, so nothing
// overlaps with the program's computation, neither with the cache nor without it.
#pragma once

#include <string>
#include <vector>

#include "cache/page/page_cache.h"
#include "simulate/study.h"

namespace nearcache::simulate {

// The cost of operations in ns: means of the measurements.
struct PageCosts {
  Cost get;
  double put_ns = 0, quiet_ns = 0;
  std::string from;  // "trace", "model" or "assumed"
};

// Times by the two costs of operations. On a busy machine nearly all of a run's communication may
// be in its slowest operations.
struct PageTimes {
  double typical = 0;       // without the slowest fiftieth
  double with_slowest = 0;  // the same if costs were not measured
};

// Results for one cache size, summed over all PEs and contexts.
struct PageResult {
  uint64_t storage_bytes = 0;  // per context
  PageTimes ns;                // communication, summed over PEs
  PageCacheCounters counters;

  // The number of puts that needed no transfer of their own.
  uint64_t joined_puts() const {
    const PageCacheCounters& c = counters;
    return c.puts > c.network_puts ? c.puts - c.network_puts : 0;
  }
};

struct PageStudy {
  Traces traces;
  PageCosts costs;               // without the slowest fiftieth
  PageCosts costs_with_slowest;  // the same if they were not measured
  uint64_t gets = 0, get_bytes = 0, puts = 0, put_bytes = 0, atomics = 0, quiets = 0, acquires = 0;
  PageTimes uncached_ns;
  std::vector<PageResult> rows;  // by storage
};

// Sets *pages to true if all traces are of OpenSHMEM programs. Returns an error message if only
// some of them are.
std::string are_pages(const StudyOptions& options, bool* pages);

// Returns an empty string, or an error message.
std::string run_pages(const StudyOptions& options, PageStudy* study);

std::string pages_text(const PageStudy& study);
std::string pages_csv(const PageStudy& study);
std::string pages_json(const PageStudy& study);

}  // namespace nearcache::simulate
