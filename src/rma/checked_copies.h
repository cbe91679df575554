// SPDX-License-Identifier: BSD-3-Clause

// Consecutive puts or gets of one origin on program memory that may have been unmapped
// (Memory::is_certain). The kernel copies (net/detour.h), so that a bad access is an error of the
// operation and does not end the process. Signal handlers are left to the program.
//
// A system call takes 0.25 us and each run 0.02 us (contiguous memory is one run), so all
// operations that arrive together are copied together.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/detour.h"
#include "rma/wire.h"

namespace nearcache::rma {

class Exposure;

class CheckedCopies {
 public:
  // An operation that is postponed until execute(). Its data must stay where it is until then.
  struct Copy {
    Head head;
    std::byte* memory;
    const std::byte* data;  // to be put
  };

  bool empty() const { return copies_.empty(); }
  // Where the copies belong, and who has sent them.
  Exposure* exposure() const { return exposure_; }
  int origin() const { return origin_; }
  // Whether an operation of this kind and length may be added.
  bool takes(const Exposure* exposure, int origin, const Head& head) const {
    return copies_.empty() ||
           (exposure == exposure_ && origin == origin_ && head.kind == copies_.front().head.kind &&
            copies_.size() < net::Detour::most_runs && head.length <= net::Detour::bytes - bytes_);
  }
  // The copy must not be larger than Detour::bytes.
  void add(Exposure* exposure, int origin, const Copy& copy) {
    exposure_ = exposure, origin_ = origin;
    bytes_ += copy.head.length;
    copies_.push_back(copy);
  }

  // Returns the copy, if it is the only one and of this kind; otherwise null.
  const Copy* only(Kind kind) const {
    return copies_.size() == 1 && copies_.front().head.kind == kind ? copies_.data() : nullptr;
  }
  void clear() { copies_.clear(), bytes_ = 0; }

  // Executes all copies, and calls done(head, success, fetched data) for each in order.
  template <class Done>
  void execute(net::Detour* by, Done done) {
    for (size_t next = 0; next < copies_.size();) {
      uint64_t copied = copy(by, next), at = 0;
      for (; next < copies_.size() && copied >= copies_[next].head.length; ++next) {
        const uint64_t length = copies_[next].head.length;
        done(copies_[next].head, true, by->buffer() + at);
        copied -= length, at += length;
      }
      if (next < copies_.size()) done(copies_[next++].head, false, nullptr);
    }
    clear();
  }

 private:
  uint64_t copy(net::Detour* by, size_t first);

  Exposure* exposure_ = nullptr;
  int origin_ = -1;
  std::vector<Copy> copies_;
  uint64_t bytes_ = 0;
  std::vector<iovec> runs_;
};

}  // namespace nearcache::rma
