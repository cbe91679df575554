// SPDX-License-Identifier: BSD-3-Clause
#include "net/descriptor_tables.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/thread_sanitizer.h"

// Whatever headers this is built with; these numbers are the same on all architectures.
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

namespace nearcache::net {
namespace {

constexpr unsigned of_a_thread = O_EXCL;  // PIDFD_THREAD, Linux 6.9
constexpr unsigned unshare_first = 2;     // CLOSE_RANGE_UNSHARE

int table_of(pid_t thread, unsigned flags) {
  return static_cast<int>(syscall(SYS_pidfd_open, thread, flags));
}

int taken_from(int table, int number) {
  return static_cast<int>(syscall(SYS_pidfd_getfd, table, number, 0));
}

bool can_take_from(int table, int number) {
  const int taken = taken_from(table, number);
  if (taken >= 0) close(taken);
  return taken >= 0;
}

// Takes it from any other thread.
int taken_from_some_thread(int number) {
  const auto own = syscall(SYS_gettid);
  std::error_code wrong;
  for (std::filesystem::directory_iterator at("/proc/self/task", wrong), end; !wrong && at != end;
       at.increment(wrong)) {
    const pid_t thread = std::atoi(at->path().filename().c_str());
    const int table = thread == own ? -1 : table_of(thread, of_a_thread);
    if (table < 0) continue;
    const int taken = taken_from(table, number);
    close(table);
    if (taken >= 0) return taken;
  }
  return -1;
}

bool close_all(unsigned first, unsigned last, unsigned flags) {
  return first > last || syscall(SYS_close_range, first, last, flags) == 0;
}

}  // namespace

thread_local bool DescriptorTables::agents_thread_ = false;

void DescriptorTables::close_both() {
  for (int* const table : {&program_, &agent_}) {
    if (*table >= 0) close(std::exchange(*table, -1));
  }
}

bool DescriptorTables::part(std::span<const int> kept) {
#ifdef NEARCACHE_THREAD_SANITIZER
  return false;  // it tells descriptors apart by their numbers, as if there were one table
#endif
  const bool possible = try_to_part(kept);
  if (!possible) close_both();
  return possible;
}

bool DescriptorTables::try_to_part(std::span<const int> kept) {
  program_ = table_of(getpid(), 0);
  agent_ = table_of(static_cast<pid_t>(syscall(SYS_gettid)), of_a_thread);
  if (program_ < 0 || agent_ < 0 || !can_take_from(program_, agent_) ||
      !can_take_from(agent_, program_))
    return false;
  std::vector<unsigned> numbers{static_cast<unsigned>(program_), static_cast<unsigned>(agent_)};
  for (const int each : kept) {
    if (each >= 0) numbers.push_back(static_cast<unsigned>(each));
  }
  std::ranges::sort(numbers);
  if (!close_all(numbers.back() + 1, ~0u, unshare_first)) return false;
  unsigned next = 0;
  for (const unsigned each : numbers) {
    if (each > next) close_all(next, each - 1, 0);
    next = each + 1;
  }
  parted_ = agents_thread_ = true;
  leave_for_later();
  return true;
}

// All threads of the program have its table; the first one may have ended.
int DescriptorTables::fetch(int number) const {
  if (!here_is_agents()) return taken_from(agent_, number);
  const int taken = taken_from(program_, number);
  return taken < 0 && errno == ESRCH ? taken_from_some_thread(number) : taken;
}

}  // namespace nearcache::net
