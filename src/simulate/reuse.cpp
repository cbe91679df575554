// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/reuse.h"

#include <algorithm>

#include "cache/get/entry.h"

namespace nearcache::simulate {

static constexpr uint64_t largest_get = UINT32_MAX - granule_bytes;  // largest that is stored

uint64_t Reuse::stored_bytes(uint64_t least) const {
  uint64_t sum = 0;
  for (const KeyUse& use : keys)
    sum += uint64_t{granules_of(std::max<uint64_t>(use.bytes, least))} * granule_bytes;
  return sum;
}

ReuseCollector::ReuseCollector(const TraceWindowInfo& info, const Settings& settings,
                               Acquires* acquires)
    : info_(info), mode_(settings.mode), settings_(settings), acquires_(acquires) {
  reuse_.needs_no_storage = mode_ == Mode::transparent || mode_ == Mode::off;
}

void ReuseCollector::set_mode(Mode mode) {
  if (mode != mode_) ++generation_;
  mode_ = mode;
  if (mode != Mode::transparent && mode != Mode::off) reuse_.needs_no_storage = false;
}

// Returns how many of `have` cached bytes serve this get, like CachedWindow::usable_head.
uint64_t ReuseCollector::head_of(const TraceEvent& get, uint64_t have) const {
  if (have >= get.bytes) return get.bytes;
  if (get.layout != 0 || info_.unit == 0) return 0;
  const int64_t past = (get.displacement + static_cast<int64_t>(have)) % info_.unit;
  const auto excess = static_cast<uint64_t>(past < 0 ? past + info_.unit : past);
  return have > excess ? have - excess : 0;
}

// Returns true if the data is still valid. Data read before an acquire may be served after it
// unless, by the first get after the acquire, it is known to have changed.
bool ReuseCollector::kept(const TraceEvent& get, const KeyState& state) const {
  if (mode_ != Mode::coherent || state.acquire == acquire_) return true;
  return settings_.versions != nullptr &&
         !settings_.versions->changed(get.target, get.from, get.to, state.ns, acquired_ns_);
}

void ReuseCollector::get(const TraceEvent& get) {
  const uint64_t hash = hash_key({get.displacement, get.target, get.layout});
  if (!settings_.sample.has(hash)) return;
  if (get.target == info_.rank) {
    ++reuse_.own_gets;
    return;
  }
  ++reuse_.gets;
  reuse_.bytes += get.bytes;
  if (mode_ == Mode::off || get.bytes == 0 || get.bytes > settings_.max_get ||
      get.bytes > largest_get)
    return;
  if (reuse_.moments == UINT32_MAX) return;
  const uint64_t now = settings_.start_ns + get.ns;
  if (acquire_ != acquires_->now()) {
    acquire_ = acquires_->now();
    acquired_ns_ = now;
  }
  const uint32_t key = table_.number_of(hash);
  if (key == states_.size()) {
    states_.emplace_back();
    reuse_.keys.emplace_back();
  }
  KeyState& state = states_[key];
  const bool everywhere = info_.unit == 0;
  if (state.most > 0 && (state.generation != generation() || !kept(get, state) ||
                         written_.written_since(get.target, everywhere ? INT64_MIN : get.from,
                                                everywhere ? INT64_MAX : get.to, state.time)))
    state.most = 0;
  if (state.most > 0) reuse(get, key, state);
  const auto bytes = static_cast<uint32_t>(get.bytes);
  state = {generation(), time_++, reuse_.moments++,           acquire_,
           now,          bytes,   std::max(state.most, bytes)};
  KeyUse& use = reuse_.keys[key];
  if (bytes > use.bytes) {
    reuse_.distinct_bytes += bytes - use.bytes;
    use.bytes = bytes;
  }
}

void ReuseCollector::reuse(const TraceEvent& get, uint32_t key, const KeyState& before) {
  const uint64_t most = head_of(get, before.most);
  const bool whole = most == get.bytes;
  reuse_.hits += whole;
  reuse_.hit_bytes += most;
  reuse_.keys[key].hits += whole;
  reuse_.keys[key].hit_bytes += most;
  // A schedule has the bytes of the last get at hand, whether it was served by the network or the
  // cache.
  const uint64_t head = head_of(get, before.last);
  if (head > 0 && settings_.intervals)
    reuse_.intervals.push_back(
        {before.number, reuse_.moments, static_cast<uint32_t>(head), head == get.bytes});
}

void ReuseCollector::write(uint32_t target, int64_t from, int64_t to) {
  written_.write(target, from, to, time_++);
}

Reuse ReuseCollector::take() {
  states_ = {};
  table_ = {};
  written_.clear();
  return std::move(reuse_);
}

}  // namespace nearcache::simulate
