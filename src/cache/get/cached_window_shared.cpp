// SPDX-License-Identifier: BSD-3-Clause

// What the ranks of a node share: gets served from it, entries published in it, and the clock by
// which own writes and acquires are ordered with both.
#include "cache/get/cached_window.h"

namespace nearcache {

// Returns the clock after the words were read. Others may have advanced it far beyond this rank's
// floor.
uint32_t CachedWindow::clock_of_words() {
  const uint64_t clock = shared_->advance();
  if (clock - floored_ < 2 * most_distance) return static_cast<uint32_t>(clock);
  forget_shared();
  return static_cast<uint32_t>(shared_->floor());
}

void CachedWindow::advance_floor() {
  const uint64_t floor = shared_->advance_floor();
  cache_->set_generation(static_cast<uint32_t>(floor));
  if (versions_ == nullptr || floor - floored_ < most_distance) return;
  cache_->drop_older();
  forget_versions();
}

void CachedWindow::forget_shared() {
  advance_floor();
  if (versions_ != nullptr) forget_versions();
}

void CachedWindow::forget_versions() {
  floored_ = shared_->floor();
  versions_->forget(cache_->generation());
}

// Called when the cache has been made: earlier writes have no number in its log.
void CachedWindow::begin_writes() {
  settled_ = cache_->writes().now();
  settled_without_number_ = epochs_.completed_without_number();
  if (!wrote_unseen_) return;
  wrote_unseen_ = false;
  shared_->forget_writes();
  shared_->doubt(true);
  cache_->set_generation(static_cast<uint32_t>(shared_->floor()));
}

void CachedWindow::wrote_unnoted() {
  if (shared_ == nullptr) return;
  wrote_unseen_ = wrote_unseen_ || cache_ == nullptr;
  if (cache_ == nullptr) return;
  forget_shared();
  shared_->doubt(true);
}

// Called after a completion: finds out which own writes are complete. Writes without a number may
// have been to any bytes.
void CachedWindow::note_completed_writes() {
  const uint32_t now = cache_->writes().now();
  const uint32_t up_to = epochs_.complete_up_to(now);
  shared_->writes_completed(up_to, now);
  if (up_to == now) settled_ = now;
  if (!shared_->in_doubt()) return;
  if (settled_without_number_ != epochs_.completed_without_number()) {
    settled_without_number_ = epochs_.completed_without_number();
    forget_shared();
  }
  if (!epochs_.some_without_number()) shared_->doubt(false);
}

// Called if find_by_name() did not find the key.
bool CachedWindow::hit_shared_with_care(const Key& key, uint64_t hash, uint64_t bytes, void* to) {
  SharedCache::Found found;
  return shared_->find_with_care(hash, key, bytes, &found) && take_shared(found, key, bytes, to);
}

bool CachedWindow::is_for_us(const PublishedEntry::Said& said, int64_t from, int64_t to,
                             uint64_t bytes) {
  if (epochs_.writes_without_number(said.key.target)) return false;
  if (said.stamp < shared_->floor() &&
      (versions_ == nullptr || !kept_shared(said, from, to, bytes)))
    return false;
  if (!shared_->overwritten(said, from, to, cache_->writes())) return true;
  ++counts_.write_drops;
  return false;
}

// Mode coherent: returns true if data older than the floor may be served because its target's
// versions say that it has not changed. Stamps are compared by 32 bits, if they are not too far
// apart.
bool CachedWindow::kept_shared(const PublishedEntry::Said& said, int64_t from, int64_t to,
                               uint64_t bytes) {
  if (shared_->floor() - said.stamp >= most_distance || said.stamp < floored_) return false;
  if (said.key.layout != 0 && said.size > bytes) return false;
  return versions_->keeps(said.key.target, from, to, static_cast<uint32_t>(said.stamp),
                          cache_->generation());
}

// Polled words are fetched again, as in serve().
bool CachedWindow::serve_shared(const RemoteGet& get, Decision* decision) {
  SharedCache::Found found;
  if (!find_shared(get.key, get.hash, get.bytes, get.from, get.to, &found)) return false;
  const bool polled = looks_polled(get);
  if (moves_data()) {
    const bool direct = get.elements.layout->dense && !polled;
    std::byte* to = static_cast<std::byte*>(get.origin) + get.elements.first_offset();
    if (!direct) scratch_.resize(get.bytes), to = scratch_.data();
    if (!shared_->copy(found, get.bytes, to)) return false;
    if (polled) {
      *decision = miss();
      decision->polled = hash_bytes(to, get.bytes);
      return true;
    }
    if (!direct) unpack(to, get.bytes, get.origin, get.elements);
  }
  shared_->count_hit(found);
  if (get.contiguous_target && get.bytes <= Lines::most_get && lines_ != nullptr)
    lines_->used(found.said.key, get.from, cache_->generation());
  served(get.bytes);
  ++counts_.hits_full;
  decision->answer = Answer::served;
  decision->outcome = Outcome::full;
  return true;
}

// Publishes arrived data for all ranks, unless an own write may have intervened.
void CachedWindow::publish(const PendingGet& get, const std::byte* packed) {
  const Entry& entry = cache_->entry(get.entry);
  const Key key = entry.key();
  if ((entry.flags & flag_orphan) != 0 || get.stamp == 0 || !stores()) return;
  if (get.write_seq != cache_->writes().now() &&
      (key.layout != 0 || shape_.unit == 0 ||
       cache_->writes().overwritten(key.target, key.displacement,
                                    key.displacement + static_cast<int64_t>(get.bytes),
                                    get.write_seq)))
    return;
  if (packed == nullptr && moves_data()) {
    scratch_.resize(get.bytes);
    pack(get.origin, get.elements, get.bytes, scratch_.data());
    packed = scratch_.data();
  }
  Shard::Terms terms;
  terms.skip_cheap = rules_.skip_cheap;
  terms.copy_ns = hit_cost.cost_ns(get.bytes);
  terms.latency_ns = latency_ns_, terms.ns_per_byte = ns_per_byte_;
  const Shard::Stored stored =
      shared_->publish(key, hash_key(key), packed, get.bytes, get.stamp, terms);
  counts_.evictions += stored.evicted;
  counts_.adaptations += static_cast<uint64_t>(stored.adapted);
}

}  // namespace nearcache
