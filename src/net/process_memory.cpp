// SPDX-License-Identifier: BSD-3-Clause
#include "net/process_memory.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace nearcache::net {
namespace {

constexpr size_t most_bytes = size_t{1} << 30;  // the kernel copies no more than 2 GiB
constexpr size_t most_runs = 1024;              // per call

static_assert(most_runs <= IOV_MAX);

Reached why_not(int error) {
  return error == EFAULT ? Reached::unmapped : error == ESRCH ? Reached::gone : Reached::refused;
}

// The part of the runs that one call is to copy: this many, the last one perhaps not in full.
struct Portion {
  size_t runs = 0, bytes = 0, rest = 0;  // `rest`: bytes of the last run left for the next call

  explicit Portion(std::span<iovec> left) {
    while (runs < std::min(left.size(), most_runs) && bytes < most_bytes)
      bytes += left[runs++].iov_len;
    if (bytes <= most_bytes) return;
    rest = bytes - most_bytes;
    bytes = most_bytes;
  }
};

void advance(iovec* run, size_t bytes) {
  run->iov_base = static_cast<char*>(run->iov_base) + bytes;
  run->iov_len -= bytes;
}

// Calls `copy` with contiguous memory here and as many runs there as one system call takes, until
// all are copied.
template <class Copy>
Reached each_portion(std::byte* here, std::span<iovec> there, Copy copy) {
  while (!there.empty()) {
    const Portion now(there);
    iovec& last = there[now.runs - 1];
    last.iov_len -= now.rest;
    iovec local{here, now.bytes};
    const ssize_t copied = copy(&local, there.data(), now.runs);
    last.iov_len += now.rest;
    if (copied < 0) return why_not(errno);
    if (copied == 0 && now.bytes > 0) return Reached::unmapped;
    auto left = static_cast<size_t>(copied);
    here += left;
    while (!there.empty() && left >= there.front().iov_len) {
      left -= there.front().iov_len;
      there = there.subspan(1);
    }
    if (left > 0) advance(&there.front(), left);
  }
  return Reached::all;
}

}  // namespace

void allow_process_memory() {
#ifdef PR_SET_PTRACER
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // fails without Yama, which is no harm
#endif
}

Reached read_process(pid_t process, std::byte* to, std::span<iovec> from) {
  return each_portion(to, from, [&](const iovec* here, const iovec* there, size_t runs) {
    return process_vm_readv(process, here, 1, there, runs, 0);
  });
}

Reached write_process(pid_t process, const std::byte* from, std::span<iovec> to) {
  return each_portion(const_cast<std::byte*>(from), to,
                      [&](const iovec* here, const iovec* there, size_t runs) {
                        return process_vm_writev(process, here, 1, there, runs, 0);
                      });
}

uint64_t process_namespace() {
  struct stat file {};
  return stat("/proc/self/ns/pid", &file) == 0 ? file.st_ino : 0;
}

std::string ProcessFile::path() const {
  return "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
}

ProcessFile own_file(int descriptor) { return {getpid(), process_namespace(), descriptor}; }

int open_file(const ProcessFile& file, std::string* wrong) {
  if (file.processes != process_namespace())
    return *wrong = "its processes are in several namespaces", -1;
  const std::string path = file.path();
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) *wrong = path + ": " + std::strerror(errno);
  return descriptor;
}

int process_descriptor(pid_t process) {
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
}

}  // namespace nearcache::net
