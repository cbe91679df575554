// SPDX-License-Identifier: BSD-3-Clause

// This PE's part of the details in the JSON report (docs/report.md): its gets over time, by size,
// by PE and by symmetric object, and the bytes that acquires dropped, by call.
//
// Hits pay nothing for it. The counts over time include all gets, as they come from the caches' own
// counters. The accessed address is recorded for every get that is not a hit, and for one hit in
// PollDetector::reads_a_look, which stands for all hits since the previous recorded one.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "front/optional_lock.h"
#include "telemetry/profile.h"
#include "telemetry/symmetric_profile.h"

namespace nearcache::shmem {

class Channel;

// What the profile has already recorded of a channel.
struct Profiled {
  uint64_t hits = 0, misses = 0, bypassed = 0, acquires = 0, dropped_bytes = 0;
  ProfileLevels levels;
  uint64_t unsorted_hits = 0;  // not yet attributed to an object
  // the last access reported: hits at the end are attributed to it
  SymmetricProfile::Object* object = nullptr;
  uint32_t pe = 0;
  uint64_t bytes = 0;
};

class AccessProfile {
 public:
  void start();  // called if a JSON report is wanted
  bool on() const { return on_; }

  // The following functions do nothing unless the profile is on. Called with the channel's lock:
  // the channel's cache has answered a get, from its contents or from the network;
  void answered(Channel* channel, int pe, uint64_t address, size_t bytes, bool from_cache) {
    if (on_) [[unlikely]]
      add_answer(channel, pe, address, bytes, from_cache);
  }
  // the cache has applied all acquires made so far;
  void caught_up(Channel* channel) {
    if (on_) [[unlikely]]
      add_drops(channel);
  }
  // the channel is about to close.
  void closing(Channel* channel) {
    if (on_) [[unlikely]]
      end_of_cache(channel);
  }

  // A get bypasses the cache. `pe` is the PE's number in the world team.
  void went_past(int pe, uint64_t address, size_t bytes) {
    if (on_) [[unlikely]]
      add_past(pe, address, bytes);
  }
  // A cache fetches bytes or writes them back.
  void fetching(uint64_t address, size_t bytes) {
    if (on_) [[unlikely]]
      add_transfer(address, bytes, &SymmetricProfile::Object::bytes_from_network);
  }
  void writing_back(uint64_t address, size_t bytes) {
    if (on_) [[unlikely]]
      add_transfer(address, bytes, &SymmetricProfile::Object::bytes_to_network);
  }
  // `call` names the call that was an acquire; the text must never be freed.
  void acquired(const char* call) {
    if (on_) [[unlikely]]
      add_acquire(call);
  }

  // The whole profile, serialised for PE 0, at the end of the program. Empty unless it is on.
  std::vector<uint64_t> packed();

 private:
  using Object = SymmetricProfile::Object;
  // A range of addresses that belong to one object.
  struct Known {
    uint64_t begin = 0, end = 0;
    Object* object = nullptr;
  };

  OptionalLock locked();
  void add_answer(Channel* channel, int pe, uint64_t address, size_t bytes, bool from_cache);
  void add_drops(Channel* channel);
  void add_rest(Channel* channel);
  void end_of_cache(Channel* channel);
  void add_past(int pe, uint64_t address, size_t bytes);
  void add_transfer(uint64_t address, size_t bytes, uint64_t Object::*what);
  void add_acquire(const char* call);

  void count(Channel* channel, const char* acquire);
  void sort_hits(Profiled* profiled);
  Object* object_at(uint64_t address);
  Known look_up(uint64_t address);
  SymmetricProfile::Acquire& acquires_by(const char* call);

  bool on_ = false;
  std::mutex mutex_;  // guards the members below
  Profile profile_;
  uint32_t until_tick_ = 1;
  SymmetricProfile symmetric_;
  Known last_;                      // valid until a block is allocated or freed
  uint64_t changes_seen_ = 0;       // allocations and frees seen so far
  std::map<uint64_t, Known> data_;  // static objects, by start address
  std::vector<std::pair<const char*, SymmetricProfile::Acquire>> acquires_;
  const char* last_call_ = nullptr;
};

}  // namespace nearcache::shmem
