// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/access_profile.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "shmem/context.h"
#include "shmem/object_names.h"
#include "telemetry/report_details.h"

namespace nearcache::shmem {
namespace {

constexpr size_t most_objects = 256;  // rows by object name; further objects share one row
constexpr const char* other_objects = "other objects";
constexpr const char* age = "data a second old";  // PageCacheOptions::longest_age_ns

}  // namespace

void AccessProfile::start() { on_ = true; }

OptionalLock AccessProfile::locked() { return OptionalLock(context.threaded ? &mutex_ : nullptr); }

// An acquire that the program did not make comes with a look, and so with an answer.
void AccessProfile::add_answer(Channel* channel, int pe, uint64_t address, size_t bytes,
                               bool from_cache) {
  const OptionalLock lock = locked();
  count(channel, age);
  Profiled& profiled = channel->profiled;
  profiled.object = object_at(address);
  profiled.pe = static_cast<uint32_t>(channel->world_pe(pe));
  profiled.bytes = bytes;
  if (from_cache) return sort_hits(&profiled);
  ++profiled.object->gets;
  profile_.sort(1, false, profiled.pe, bytes, 0);
}

void AccessProfile::add_drops(Channel* channel) {
  const OptionalLock lock = locked();
  count(channel, last_call_);
}

void AccessProfile::add_rest(Channel* channel) {
  const OptionalLock lock = locked();
  count(channel, last_call_);
  if (channel->profiled.object != nullptr) sort_hits(&channel->profiled);
}

void AccessProfile::end_of_cache(Channel* channel) {
  add_rest(channel);
  const OptionalLock lock = locked();
  profile_.level(channel->profiled.levels, {});
  const uint64_t bypassed = channel->profiled.bypassed;
  channel->profiled = {};
  channel->profiled.bypassed = bypassed;
}

void AccessProfile::add_past(int pe, uint64_t address, size_t bytes) {
  const OptionalLock lock = locked();
  Object* object = object_at(address);
  ++object->gets;
  ++object->bypassed;
  object->bytes_from_network += bytes;
  profile_.sort(1, false, static_cast<uint32_t>(pe), bytes, 0);
}

void AccessProfile::add_transfer(uint64_t address, size_t bytes, uint64_t Object::*what) {
  const OptionalLock lock = locked();
  object_at(address + bytes / 2)->*what += bytes;  // it may begin with a neighbour's last bytes
}

void AccessProfile::add_acquire(const char* call) {
  const OptionalLock lock = locked();
  last_call_ = call;
  ++acquires_by(call).calls;
}

// Adds what the channel has counted since the last time. Bytes dropped meanwhile are attributed to
// `acquire`.
void AccessProfile::count(Channel* channel, const char* acquire) {
  constexpr uint32_t counts_a_tick = 16;
  const Profiled now = channel->progress();
  Profiled& before = channel->profiled;
  profile_.count(Outcome::full, now.hits - before.hits);
  profile_.count(Outcome::direct, now.misses - before.misses);
  profile_.count(Outcome::bypassed, now.bypassed - before.bypassed);
  profile_.level(before.levels, now.levels);
  if (now.acquires != before.acquires) {
    SymmetricProfile::Acquire& row = acquires_by(acquire);
    if (acquire == age) row.calls += now.acquires - before.acquires;
    row.bytes_dropped += now.dropped_bytes - before.dropped_bytes;
  }
  before.unsorted_hits += now.hits - before.hits;
  before.hits = now.hits;
  before.misses = now.misses;
  before.bypassed = now.bypassed;
  before.levels = now.levels;
  before.acquires = now.acquires;
  before.dropped_bytes = now.dropped_bytes;
  if (--until_tick_ != 0) return;
  until_tick_ = counts_a_tick;
  profile_.tick(system_ns() - context.started_ns);
}

void AccessProfile::sort_hits(Profiled* profiled) {
  const uint64_t hits = std::exchange(profiled->unsorted_hits, 0);
  profiled->object->gets += hits;
  profiled->object->hits += hits;
  profile_.sort(hits, true, profiled->pe, profiled->bytes, profiled->bytes);
}

SymmetricProfile::Object* AccessProfile::object_at(uint64_t address) {
  const uint64_t changes = context.memory.changes();
  if (changes == changes_seen_ && address >= last_.begin && address < last_.end)
    return last_.object;
  changes_seen_ = changes;
  last_ = look_up(address);
  return last_.object;
}

// Names of static data are looked up in the program's file, which is slow: once per object or,
// where no object is found, once per address, up to a limit. The program may name a range at any
// time.
AccessProfile::Known AccessProfile::look_up(uint64_t address) {
  const bool is_data = context.memory.find(address, 1).kind == MemoryKind::data &&
                       context.memory.named_at(address).name.empty();
  const Extent alike = context.memory.named_alike(address);
  const auto behind = data_.upper_bound(address);
  if (is_data && behind != data_.begin() && address < std::prev(behind)->second.end) {
    const Known& known = std::prev(behind)->second;
    return {std::max(known.begin, alike.begin), std::min(known.end, alike.end), known.object};
  }
  const NamedObject named = is_data && data_.size() >= most_objects
                                ? NamedObject{other_objects, address, 0}
                                : symmetric_object_at(address);
  const bool room =
      symmetric_.objects.size() < most_objects || symmetric_.objects.contains(named.name);
  Object& object = symmetric_.objects[room ? named.name : other_objects];
  Known known{address, address + 1, &object};
  if (named.end != 0) {
    known.begin = std::max(named.begin, alike.begin);
    known.end = std::min(named.end, alike.end);
    if (room) object.bytes = named.end - named.begin;
  }
  if (is_data && data_.size() < most_objects) data_[known.begin] = known;
  return known;
}

SymmetricProfile::Acquire& AccessProfile::acquires_by(const char* call) {
  const auto found = std::ranges::find(acquires_, call, [](const auto& row) { return row.first; });
  if (found != acquires_.end()) return found->second;
  return acquires_.emplace_back(call, SymmetricProfile::Acquire()).second;
}

std::vector<uint64_t> AccessProfile::packed() {
  if (!on_) return {};
  context.each_channel([&](Channel& channel) {
    const ChannelLock lock(&channel);
    add_rest(&channel);
  });
  profile_.tick(system_ns() - context.started_ns);
  for (const auto& [call, acquire] : acquires_) {
    SymmetricProfile::Acquire& sum = symmetric_.acquires[call == nullptr ? "?" : call];
    sum.calls += acquire.calls;
    sum.bytes_dropped += acquire.bytes_dropped;
  }
  return ReportDetails::pack(profile_, symmetric_);
}

}  // namespace nearcache::shmem
