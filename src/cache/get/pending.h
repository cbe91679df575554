// SPDX-License-Identifier: BSD-3-Clause

// Gets in flight: what must be copied where once their data has arrived. Their number is not
// limited.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/get/entry.h"
#include "cache/get/layout.h"
#include "cache/get/targets.h"

namespace nearcache {

inline constexpr uint32_t no_record = UINT32_MAX;

// Links of a record in a list.
struct Links {
  uint32_t before = no_record, after = no_record;
};

// A remote get in flight.
struct PendingGet {
  EntryId entry = no_entry;
  uint32_t target = 0;
  Links of_target, of_window;    // lists in order of issue
  uint32_t waiters = no_record;  // gets of the same epoch that want the same bytes
  uint32_t write_seq = 0;        // own writes when it was issued
  uint64_t serial = 0;           // order of issue; 0 while the record is not in use
  void* origin = nullptr;
  Elements elements;
  uint64_t bytes = 0;
  uint64_t stamp = 0;       // the shared cache's clock before it was issued; 0: not for that cache
  bool of_request = false;  // it is an MPI_Rget
  // if it refetches a polled word: a hash of the bytes that were cached; otherwise 0
  uint64_t polled = 0;
  uint64_t start = 0;  // offset of its bytes in the entry: behind the head of a partial hit
  // if it fetches a line: where the line arrives; the get that caused it is the first waiter
  std::byte* buffer = nullptr;
};

// A get that was answered by another one in flight: `bytes` bytes of that one's data, from `start`
// on, are to be copied to `origin`.
struct Waiter {
  uint32_t after = no_record;
  void* origin = nullptr;
  Elements elements;
  uint64_t start = 0, bytes = 0;
};

// Records by number, with a list of free ones. Numbers are stable, addresses are not.
template <class Record>
class RecordPool {
 public:
  uint32_t take() {
    if (free_.empty()) {
      records_.emplace_back();
      return static_cast<uint32_t>(records_.size() - 1);
    }
    const uint32_t at = free_.back();
    free_.pop_back();
    return at;
  }
  void give_back(uint32_t at) { free_.push_back(at); }
  Record& operator[](uint32_t at) { return records_[at]; }
  size_t in_use() const { return records_.size() - free_.size(); }
  size_t size() const { return records_.size(); }

  // A list of records, linked by one of their Links.
  struct List {
    uint32_t first = no_record, last = no_record;
  };
  void append(List* list, Links Record::*links, uint32_t at) {
    records_[at].*links = {list->last, no_record};
    (list->last == no_record ? list->first : (records_[list->last].*links).after) = at;
    list->last = at;
  }
  void remove(List* list, Links Record::*links, uint32_t at) {
    const Links its = records_[at].*links;
    (its.before == no_record ? list->first : (records_[its.before].*links).after) = its.after;
    (its.after == no_record ? list->last : (records_[its.after].*links).before) = its.before;
  }

 private:
  std::vector<Record> records_;
  std::vector<uint32_t> free_;
};

// The gets of a window that are in flight, in order of issue, each with the gets that it answers.
// A get that has been removed may leave its number to a later one, which its serial tells apart.
class PendingGets {
 public:
  // `data_moves`: false in a simulation, where no get waits for data and layouts are not held.
  PendingGets(uint32_t targets, bool data_moves) : data_moves_(data_moves), of_target_(targets) {}

  bool none() const { return all_.first == no_record; }
  uint64_t last_serial() const { return serials_; }
  PendingGet& operator[](uint32_t record) { return gets_[record]; }
  // Returns true if this record is still that of the get with this serial.
  bool is_of(uint32_t record, uint64_t serial) {
    return record < gets_.size() && gets_[record].serial == serial;
  }

  // Adds a get, which receives the next serial, and returns its record.
  uint32_t add(const PendingGet& get) {
    const uint32_t record = gets_.take();
    gets_[record] = get;
    gets_[record].serial = ++serials_;
    if (data_moves_) layout_hold(get.elements.layout);
    gets_.append(&of_target_[get.target], &PendingGet::of_target, record);
    gets_.append(&all_, &PendingGet::of_window, record);
    return record;
  }
  // pre: its waiters have been taken
  void remove(uint32_t record) {
    PendingGet& get = gets_[record];
    gets_.remove(&of_target_[get.target], &PendingGet::of_target, record);
    gets_.remove(&all_, &PendingGet::of_window, record);
    if (data_moves_) layout_drop(get.elements.layout);
    get.serial = 0;
    get.entry = no_entry;
    gets_.give_back(record);
  }
  // Returns the first get from these targets that was issued no later than `up_to`; no_record if
  // there is none.
  uint32_t first(Targets targets, uint64_t up_to) {
    if (targets.is_none()) return no_record;
    const uint32_t record = (targets.is_all() ? all_ : of_target_[targets.rank()]).first;
    return record != no_record && gets_[record].serial <= up_to ? record : no_record;
  }
  // The entries are gone; waiters are still to be served.
  void forget_entries() {
    for (uint32_t record = 0; record < gets_.size(); ++record) gets_[record].entry = no_entry;
  }

  // Returns the waiter's number, or no_record in a simulation.
  uint32_t add_waiter(uint32_t record, const Waiter& waiter) {
    if (!data_moves_) return no_record;
    const uint32_t at = waiters_.take();
    layout_hold(waiter.elements.layout);
    waiters_[at] = waiter;
    waiters_[at].after = gets_[record].waiters;
    gets_[record].waiters = at;
    return at;
  }
  void remove_waiter(uint32_t record, uint32_t waiter) {
    uint32_t* link = &gets_[record].waiters;
    while (*link != no_record && *link != waiter) link = &waiters_[*link].after;
    if (*link == no_record) return;
    *link = waiters_[waiter].after;
    layout_drop(waiters_[waiter].elements.layout);
    waiters_.give_back(waiter);
  }
  // Calls use(waiter) for each get that waits for this one, and forgets them.
  template <class Use>
  void take_waiters(uint32_t record, Use use) {
    for (uint32_t at = gets_[record].waiters; at != no_record;) {
      const Waiter waiter = waiters_[at];
      use(waiter);
      layout_drop(waiter.elements.layout);
      waiters_.give_back(at);
      at = waiter.after;
    }
    gets_[record].waiters = no_record;
  }

 private:
  RecordPool<PendingGet>::List all_;
  const bool data_moves_;
  uint64_t serials_ = 0;
  std::vector<RecordPool<PendingGet>::List> of_target_;
  RecordPool<PendingGet> gets_;
  RecordPool<Waiter> waiters_;
};

}  // namespace nearcache
