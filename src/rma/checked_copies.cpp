#include "rma/checked_copies.h"

#include <cstring>

namespace nearcache::rma {
namespace {

// One run where it follows the last one.
void append(std::vector<iovec>* runs, const std::byte* at, uint64_t length) {
  auto* const begin = const_cast<std::byte*>(at);
  if (!runs->empty() &&
      static_cast<std::byte*>(runs->back().iov_base) + runs->back().iov_len == begin)
    runs->back().iov_len += length;
  else
    runs->push_back({begin, length});
}

}  // namespace

// All from the first on; `at` is where what they fetch begins.
uint64_t CheckedCopies::copy(pid_t process, size_t first, uint64_t at, net::Reached* why) {
  const bool puts = copies_.front().head.kind == Kind::put;
  here_.clear();
  there_.clear();
  for (size_t i = first; i < copies_.size(); ++i) {
    append(&there_, copies_[i].memory, copies_[i].head.length);
    if (puts) append(&here_, copies_[i].data, copies_[i].head.length);
  }
  if (puts) return net::write_process_once(process, here_, there_, why);
  here_.push_back({fetched_.data() + at, bytes_ - at});
  return net::read_process_once(process, here_, there_, why);
}

void CheckedCopies::copy_anyway(const Copy& copy, std::byte* fetched) {
  if (copy.head.kind == Kind::put) {
    std::memcpy(copy.memory, copy.data, copy.head.length);
  } else {
    std::memcpy(fetched, copy.memory, copy.head.length);
  }
}

}  // namespace nearcache::rma
