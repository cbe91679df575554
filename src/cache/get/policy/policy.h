// SPDX-License-Identifier: BSD-3-Clause

// Victim selection and admission: which entry is evicted when index or storage is full, and which
// newcomer is not admitted.
//
// Policies are stateless; what they remember is in the cache's region. They are called on misses
// only, except for touched(), which costs each hit a call with any policy but `rate`.
#pragma once

#include <cstdint>

#include "base/options.h"
#include "cache/get/entry.h"

namespace nearcache {

class PolicyView;

// A get that missed and is to be inserted.
struct Newcomer {
  Key key;
  uint64_t hash;
  uint64_t bytes;
  uint32_t past;     // how often it was requested before, according to the sketch
  bool due = false;  // will be hit soon, whatever its past says
  double value = 0;  // by the policy's own measure; set by judge()
};

// The value of storage per byte, by the policy's own measure: the mean over recent evictions.
struct PriceOfStorage {
  double value = 0, bytes = 0;

  void paid(double more_value, double more_bytes, double weight) {
    value += weight * (more_value - value);
    bytes += weight * (more_bytes - bytes);
  }
  double of_byte() const { return bytes > 0 ? value / bytes : 0; }
};

class Policy {
 public:
  // Computes what keeping the newcomer is worth, which make_room() and conflict_victim() compare.
  virtual void judge(PolicyView cache, Newcomer* newcomer) const = 0;
  virtual void inserted(PolicyView cache, EntryId id, const Newcomer& newcomer) const = 0;
  virtual void touched(PolicyView cache, EntryId id) const = 0;
  // `id` is being removed; called before its storage is released.
  virtual void removed(PolicyView cache, EntryId id) const = 0;
  // The storage of `id` has grown in place by `more` bytes.
  virtual void extended(PolicyView cache, EntryId id, uint64_t more) const;

  // Returns the one of `count` entries to evict for the newcomer's place in the index, or no_entry
  // if the newcomer is not worth it.
  virtual EntryId conflict_victim(PolicyView cache, const EntryId* path, int count,
                                  const Newcomer& newcomer) const = 0;
  // Evicts until the newcomer may fit. Returns false if nothing, or nothing more, is evicted for
  // it.
  virtual bool make_room(PolicyView cache, const Newcomer& newcomer) const = 0;

  // Checks the policy's own data; for tests. Returns what is wrong, or null.
  virtual const char* check(PolicyView cache) const;

 protected:
  // Not virtual, hence trivial: the policies are statics, and gets may come while statics are
  // destroyed.
  ~Policy() = default;
};

const Policy& policy_of(PolicyKind kind);
// Returns true if the policy needs links beside each descriptor.
inline bool keeps_queues(PolicyKind kind) {
  return kind == PolicyKind::lru || kind == PolicyKind::sieve || kind == PolicyKind::tinylfu;
}

// The policies, one file each.
const Policy& rate_policy();
const Policy& lru_policy();
const Policy& sieve_policy();
const Policy& tinylfu_policy();
const Policy& clampi_policy(PolicyKind kind);

}  // namespace nearcache
