// SPDX-License-Identifier: BSD-3-Clause

// Determines which mode is safe for a window, as far as traces tell: were bytes written that had
// been read, and were they read again afterwards?
//
// Every get is replayed against a cache without limits, once under the rule of mode `always`
// (nothing is ever dropped) and once under that of `user`, with an invalidation at every fence,
// collective call or receive that follows a write by another rank. A hit is stale if another rank
// may have written one of its pages between the get that filled the entry and the hit. Times are
// taken at their worst: a put ends with the synchronisation that completes it, a store may be as
// old as the last check of its page, and a get may be anywhere between two times of its trace. So
// "none is stale" holds for this run, while "some are" may be due to two accesses that merely share
// a page.
//
// Memory: 48 bytes for each write of all ranks, and at most 128 bytes for each distinct key of the
// rank and window being replayed; nothing per get.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/study.h"

namespace nearcache::simulate {

// A hit that would have been stale.
struct StaleHit {
  uint32_t reader = 0, writer = 0, target = 0;  // ranks of the window
  int64_t displacement = 0;
  uint64_t bytes = 0;
  bool stored_by_owner = false;          // false: put or accumulated
  uint64_t read_ns = 0, written_ns = 0;  // since the first rank's start; the write's beginning
};

// The result of one rule: how many gets repeated one that would still be cached, and how many of
// these were stale.
struct RuleResult {
  uint64_t hits = 0, hit_bytes = 0, stale = 0;
  uint64_t invalidations = 0;  // of the rank with the most
  std::optional<StaleHit> example;
};

struct WindowSafety {
  uint64_t id = 0;
  std::string name;
  uint8_t mode = 0;
  uint32_t ranks = 0, traced_ranks = 0;  // ranks of the window; those with traces
  uint64_t gets = 0, bytes = 0;          // gets of other ranks' memory
  uint64_t own_gets = 0;                 // gets of own memory, which are never cached
  // puts and accumulates; noticed stores into own memory
  uint64_t puts = 0, stores = 0;
  // those that did not end before the first get or begin after the last
  uint64_t writes_while_read = 0;
  RuleResult transparent, user, always;
};

struct Safety {
  Traces traces;
  std::vector<WindowSafety> windows;
};

// Returns an empty string, or an error message.
std::string run_safety(const StudyOptions& options, Safety* safety);
std::string safety_json(const Safety& safety);

}  // namespace nearcache::simulate
