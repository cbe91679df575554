// Gets in flight: what must be copied where once their data has arrived. No limit on their
// number.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/get/entry.h"
#include "cache/get/layout.h"

namespace nearcache {

inline constexpr uint32_t no_record = UINT32_MAX;

// Neighbours in a list of records.
struct Links {
  uint32_t before = no_record, after = no_record;
};

// One remote get that an entry waits for.
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
  uint64_t stamp = 0;       // the shared cache's clock before it was issued; 0: not for that
  bool of_request = false;  // of an Rget
  // a hash of the bytes that were served before of a word that is polled, 0 if none were
  uint64_t polled = 0;
  uint64_t start = 0;  // where in the entry its bytes begin: behind the head of a partial hit
  // of a line, which arrives there; who asked for a part of it is its first waiter
  std::byte* buffer = nullptr;
};

// A get that was answered by one under way: `bytes` of its data, from `start` on, are to be copied
// to `origin`.
struct Waiter {
  uint32_t after = no_record;
  void* origin = nullptr;
  Elements elements;
  uint64_t start = 0, bytes = 0;
};

// Records by number, with a list of free ones; numbers stay, addresses do not.
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

  // A list of records, by one of their Links.
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
