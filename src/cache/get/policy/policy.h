// Victim selection and admission: which entry is evicted when the index or the storage is full, and
// which newcomer is not admitted.
//
// Policies are stateless; what they remember lies in the cache's region. All are asked on misses
// only, except `touched`, which costs every hit a call with every policy but `rate`.
#pragma once

#include <cstdint>

#include "base/options.h"
#include "cache/get/entry.h"

namespace nearcache {

class PolicyView;

// A get that missed and wants in.
struct Newcomer {
  Key key;
  uint64_t hash;
  uint64_t bytes;
  uint32_t past;     // how often it was asked for before, by the sketch
  double value = 0;  // by the policy's own measure; filled by `judge`
};

// What storage is worth per byte, by the policy's own measure: the mean of what was evicted of
// late.
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
  // What keeping the newcomer is worth; `make_room` and `conflict_victim` compare it.
  virtual void judge(PolicyView cache, Newcomer* newcomer) const = 0;
  virtual void inserted(PolicyView cache, EntryId id, const Newcomer& newcomer) const = 0;
  virtual void touched(PolicyView cache, EntryId id) const = 0;
  // `id` leaves; called before its storage is released.
  virtual void removed(PolicyView cache, EntryId id) const = 0;
  // The storage of `id` has grown by `more` bytes where it lies.
  virtual void extended(PolicyView cache, EntryId id, uint64_t more) const;

  // One of `count` entries to evict for the newcomer's place in the index, or no_entry if it is not
  // worth it.
  virtual EntryId conflict_victim(PolicyView cache, const EntryId* path, int count,
                                  const Newcomer& newcomer) const = 0;
  // Evicts until the newcomer may fit. False if nothing (more) was evicted for it.
  virtual bool make_room(PolicyView cache, const Newcomer& newcomer) const = 0;

  // Is what the policy keeps in order? For tests: what is wrong, or null.
  virtual const char* check(PolicyView cache) const;

 protected:
  // Not virtual, hence trivial: the policies are statics, and gets come when statics are destroyed.
  ~Policy() = default;
};

const Policy& policy_of(PolicyKind kind);
// Does the policy need links beside each descriptor?
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
