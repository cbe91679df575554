// SPDX-License-Identifier: BSD-3-Clause

// Gets in flight: what must be copied where once their data has arrived. Their number is not
// limited.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/get/entry.h"
#include "cache/get/layout.h"

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

}  // namespace nearcache
