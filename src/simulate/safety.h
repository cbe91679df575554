// Which mode is safe for a window, as far as traces tell: were bytes written that had been read,
// and read again afterwards?
//
// Every get is replayed against a cache without limits, once under the rule of mode `always`
// (nothing is ever dropped), once under that of `user` with an invalidation at every fence,
// collective call or receive that follows a write by another rank. A hit is stale if another rank
// may have written one of its pages between the get that filled the entry and the hit. The worst
// case is assumed for times: a put ends with the synchronisation that completes it, a store is as
// old as the last check of its page, a get is anywhere between two times of its trace. So "none is
// stale" holds for this run; "some are" may be due to two accesses that only share a page.
//
// Memory: 48 bytes for each write of all ranks, and at most 128 for each distinct key of the rank
// and window that is played; none for a get.
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
  bool stored_by_owner = false;          // else put or accumulated
  uint64_t read_ns = 0, written_ns = 0;  // since the first rank's start; the write's beginning
};

// Of one rule: how many gets were repeats of one that would still be cached, and how many of these
// were stale.
struct RuleResult {
  uint64_t hits = 0, hit_bytes = 0, stale = 0;
  uint64_t invalidations = 0;  // of the rank that had most
  std::optional<StaleHit> example;
};

struct WindowSafety {
  uint64_t id = 0;
  std::string name;
  uint8_t mode = 0;
  uint32_t ranks = 0, traced_ranks = 0;  // of the window; whose traces there are
  uint64_t gets = 0, bytes = 0;          // of other ranks' memory
  uint64_t own_gets = 0;                 // of the own one, which are never cached
  // writes by puts and accumulates, noticed writes into own memory
  uint64_t puts = 0, stores = 0;
  // of these, not over before the first get, not begun after the last
  uint64_t writes_while_read = 0;
  RuleResult transparent, user, always;
};

struct Safety {
  Traces traces;
  std::vector<WindowSafety> windows;
};

// Returns an empty string, or what is wrong.
std::string run_safety(const StudyOptions& options, Safety* safety);
std::string safety_json(const Safety& safety);

}  // namespace nearcache::simulate
