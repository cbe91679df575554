// This PE's part of the JSON report's details (docs/report.md): its gets over time, by size, by PE
// and by symmetric object, and what acquires dropped, by call.
//
// Hits do not pay for it. Over time all gets are counted, by the caches' own counters. What a get
// accesses is known for every get that is not a hit, and for one hit in PollDetector::reads_a_look,
// which stands for those since the last one.
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

// What the profile knows of a channel already.
struct Profiled {
  uint64_t hits = 0, misses = 0, bypassed = 0, acquires = 0, dropped_bytes = 0;
  ProfileLevels levels;
  uint64_t unsorted_hits = 0;  // of which nobody has said yet what they were of
  // what was told last: hits at the end were of it, too
  SymmetricProfile::Object* object = nullptr;
  uint32_t pe = 0;
  uint64_t bytes = 0;
};

class AccessProfile {
 public:
  void start();  // a JSON report is wanted
  bool on() const { return on_; }

  // What follows does nothing unless it is on. With the channel's lock:
  // its cache answered a get, with what it had or by the network;
  void answered(Channel* channel, int pe, uint64_t address, size_t bytes, bool from_cache) {
    if (on_) [[unlikely]]
      add_answer(channel, pe, address, bytes, from_cache);
  }
  // its cache has made the acquires so far;
  void caught_up(Channel* channel) {
    if (on_) [[unlikely]]
      add_drops(channel);
  }
  // it is about to go.
  void closing(Channel* channel) {
    if (on_) [[unlikely]]
      end_of_cache(channel);
  }

  // A get goes past the cache. `pe`: as in the world.
  void went_past(int pe, uint64_t address, size_t bytes) {
    if (on_) [[unlikely]]
      add_past(pe, address, bytes);
  }
  // A cache fetches, or writes back.
  void fetching(uint64_t address, size_t bytes) {
    if (on_) [[unlikely]]
      add_transfer(address, bytes, &SymmetricProfile::Object::bytes_from_network);
  }
  void writing_back(uint64_t address, size_t bytes) {
    if (on_) [[unlikely]]
      add_transfer(address, bytes, &SymmetricProfile::Object::bytes_to_network);
  }
  // `call` is an acquire; the text is never freed.
  void acquired(const char* call) {
    if (on_) [[unlikely]]
      add_acquire(call);
  }

  // All there is, as it travels to PE 0; the program has ended. Empty unless it is on.
  std::vector<uint64_t> packed();

 private:
  using Object = SymmetricProfile::Object;
  // Addresses that belong to one object.
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
  std::mutex mutex_;  // covers what follows
  Profile profile_;
  uint32_t until_tick_ = 1;
  SymmetricProfile symmetric_;
  Known last_;                      // holds while no block comes or goes
  uint64_t changes_seen_ = 0;       // of blocks
  std::map<uint64_t, Known> data_;  // static objects, by where they begin
  std::vector<std::pair<const char*, SymmetricProfile::Acquire>> acquires_;
  const char* last_call_ = nullptr;
};

}  // namespace nearcache::shmem
