// SPDX-License-Identifier: BSD-3-Clause
#include "net/detour.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/kernel_page.h"
#include "base/memory.h"

namespace nearcache::net {
namespace {

static_assert(Detour::most_runs <= IOV_MAX);

// Returns true if the kernel did as it was asked, as far as the memory is there.
bool done(ssize_t count, uint64_t* copied) {
  *copied = count < 0 ? 0 : static_cast<uint64_t>(count);
  return count >= 0 || errno == EFAULT;
}

// The kernel atomically ors 0 to a word, which fails if the word cannot be written. (It would wake
// a thread that sleeps on the word, were it -2048; such threads must expect that of any futex.)
bool can_write_word_of(const std::byte* at) {
  constexpr uintptr_t alignment = sizeof(uint32_t);
  const uintptr_t word = reinterpret_cast<uintptr_t>(at) / alignment * alignment;
  uint32_t nobody = 0;
  return syscall(SYS_futex, &nobody, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, word,
                 FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, -2048)) >= 0;
}

// Linux 5.14 and later, whatever headers this is built with.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// The kernel makes all of it ready to be written, as stores would.
bool can_write_pages_of(std::byte* at, uint64_t length, uint64_t page) {
  const uint64_t before = reinterpret_cast<uintptr_t>(at) % page;
  return madvise(at - before, before + length, MADV_POPULATE_WRITE) == 0;
}

// Allocates the file's pages. Before Linux 6.10 a signal that arrives meanwhile ends that.
bool allocate(int file, off_t bytes) {
  int rc;
  do {
    rc = fallocate(file, 0, 0, bytes);
  } while (rc != 0 && errno == EINTR);
  return rc == 0;
}

}  // namespace

int Detour::prepare() {
  if (!std::exchange(prepared_, true) && file_may_have(bytes))
    descriptor_ = memfd_create("nearcache-detour", MFD_CLOEXEC);
  return descriptor_;
}

// The file's pages are allocated in advance: a write to the mapping must not end the process
// because none are left.
void Detour::open() {
  if (prepare() >= 0 && allocate(descriptor_, bytes)) {
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (mapped != MAP_FAILED) {
      buffer_ = static_cast<std::byte*>(mapped);
      return;
    }
  }
  stop_checking();
  own_ = std::make_unique<std::byte[]>(bytes);
  buffer_ = own_.get();
}

Detour::~Detour() {
  if (buffer_ != nullptr && own_ == nullptr) munmap(buffer_, bytes);
  stop_checking();
}

void Detour::stop_checking() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

bool Detour::can_write(std::byte* at, uint64_t length) {
  const uint64_t page = kernel_page();
  if (length > page) return can_write_pages_of(at, length, page);
  if (length == 0 || !can_write_word_of(at)) return false;
  const std::byte* const last = at + length - 1;
  const auto page_of = [page](const std::byte* byte) {
    return reinterpret_cast<uintptr_t>(byte) / page;
  };
  return page_of(at) == page_of(last) || can_write_word_of(last);
}

uint64_t Detour::take(std::span<const iovec> from) {
  std::byte* to = buffer();
  if (uint64_t copied; checks()) {
    if (done(from.size() == 1 ? pwrite(descriptor_, from[0].iov_base, from[0].iov_len, 0)
                              : pwritev(descriptor_, from.data(), static_cast<int>(from.size()), 0),
             &copied))
      return copied;
    stop_checking();
  }
  for (const iovec& run : from)
    std::memcpy(std::exchange(to, to + run.iov_len), run.iov_base, run.iov_len);
  return static_cast<uint64_t>(to - buffer_);
}

uint64_t Detour::give(std::span<const iovec> to) {
  const std::byte* from = buffer();
  if (uint64_t copied; checks()) {
    if (done(to.size() == 1 ? pread(descriptor_, to[0].iov_base, to[0].iov_len, 0)
                            : preadv(descriptor_, to.data(), static_cast<int>(to.size()), 0),
             &copied))
      return copied;
    stop_checking();
  }
  for (const iovec& run : to)
    std::memcpy(run.iov_base, std::exchange(from, from + run.iov_len), run.iov_len);
  return static_cast<uint64_t>(from - buffer_);
}

}  // namespace nearcache::net
