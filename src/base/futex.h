// SPDX-License-Identifier: BSD-3-Clause

// Futexes: words on which threads of one or several processes sleep.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace nearcache {

// Sleeps while the word has this value, for at most `ns` nanoseconds; may wake up spuriously. Any
// process that shares the memory may wake it.
inline void futex_wait(const std::atomic<uint32_t>* word, uint32_t value, uint64_t ns) {
  const timespec most{static_cast<time_t>(ns / 1000000000), static_cast<long>(ns % 1000000000)};
  syscall(SYS_futex, word, FUTEX_WAIT, value, &most, nullptr, 0);
}

inline void futex_wake(const std::atomic<uint32_t>* word, int sleepers = INT_MAX) {
  syscall(SYS_futex, word, FUTEX_WAKE, sleepers, nullptr, nullptr, 0);
}

}  // namespace nearcache
