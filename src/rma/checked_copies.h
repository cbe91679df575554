// Consecutive puts or gets of one origin on the program's memory that may have been unmapped
// (Memory::is_certain): the kernel copies (net/detour.h), so that this is an error of the operation
// and does not end the process. Signal handlers are left to the program.
//
// A system call takes 0.25 us and each run 0.02 (contiguous memory is one run), so as many
// operations as come together are copied together.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/detour.h"
#include "rma/wire.h"

namespace nearcache::rma {

class CheckedCopies {
 public:
  // What is not done until `execute`. Its data must be there until then.
  struct Copy {
    Head head;
    std::byte* memory;
    const std::byte* data;  // of a put
  };

  bool empty() const { return copies_.empty(); }
  int origin() const { return origin_; }
  // Whether the next one may be of this kind and length.
  bool takes(int origin, const Head& head) const {
    return copies_.empty() ||
           (origin == origin_ && head.kind == copies_.front().head.kind &&
            copies_.size() < net::Detour::most_runs && head.length <= net::Detour::bytes - bytes_);
  }
  // No longer than a detour.
  void add(int origin, const Copy& copy) {
    origin_ = origin;
    bytes_ += copy.head.length;
    copies_.push_back(copy);
  }

  // Null if it is not one, or not a get.
  const Copy* only_get() const {
    return copies_.size() == 1 && copies_.front().head.kind == Kind::get ? copies_.data() : nullptr;
  }
  void clear() { copies_.clear(), bytes_ = 0; }

  // Calls with each in order, what became of it, and what was fetched.
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

  int origin_ = -1;
  std::vector<Copy> copies_;
  uint64_t bytes_ = 0;
  std::vector<iovec> runs_;
};

}  // namespace nearcache::rma
