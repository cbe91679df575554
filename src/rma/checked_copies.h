// Puts or gets of one origin that follow each other, on memory of the program that may not be there
// any more (Memory::is_certain): the kernel copies, so that this is an error of the operation, and
// no end of the process. Handlers of signals are the program's.
//
// A call of the kernel takes 0.6 us and each run 0.17 (memory that follows on is one run): so as
// many as come together go together.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/process_memory.h"
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
            copies_.size() < net::most_runs && head.length <= most_bytes - bytes_);
  }
  void add(int origin, const Copy& copy) {
    origin_ = origin;
    bytes_ += copy.head.length;
    copies_.push_back(copy);
  }

  // Calls with each in order, what became of it, and what was fetched. `process`: this one. What
  // the kernel refuses to do at all is done as if the memory were there: then it returns false.
  template <class Done>
  bool execute(pid_t process, Done done) {
    bool refused = false;
    fetched_.resize(bytes_);
    size_t next = 0;
    for (uint64_t at = 0; next < copies_.size();) {
      net::Reached why;
      uint64_t copied = copy(process, next, at, &why);
      const size_t before = next;
      for (; next < copies_.size() && copied >= copies_[next].head.length; ++next) {
        const uint64_t length = copies_[next].head.length;
        done(copies_[next].head, true, fetched_.data() + at);
        copied -= length, at += length;
      }
      if (next > before) continue;
      refused = refused || why == net::Reached::refused;
      if (refused) copy_anyway(copies_[next], fetched_.data() + at);
      done(copies_[next].head, refused, fetched_.data() + at);
      at += copies_[next++].head.length;
    }
    copies_.clear();
    bytes_ = 0;
    return !refused;
  }

 private:
  static constexpr uint64_t most_bytes = 256 << 10;

  uint64_t copy(pid_t process, size_t first, uint64_t at, net::Reached* why);
  static void copy_anyway(const Copy& copy, std::byte* fetched);

  int origin_ = -1;
  std::vector<Copy> copies_;
  uint64_t bytes_ = 0;
  std::vector<std::byte> fetched_;
  std::vector<iovec> here_, there_;
};

}  // namespace nearcache::rma
