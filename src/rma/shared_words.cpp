// SPDX-License-Identifier: BSD-3-Clause
#include "rma/shared_words.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "base/spin.h"
#include "net/process_memory.h"

namespace nearcache::rma {
namespace {

// Few operations take longer, so the holder of the mutex has probably lost its core. 6 to 13 us: an
// operation through the kernel takes 1 to 2, and to sleep and be woken takes 5.
constexpr int spins = 300;
constexpr uint64_t longest_sleep_ns = 20000000;

// A process that has ended can be sent signals until its parent, which may be stopped, has waited
// for it.
bool has_died(pid_t process) {
  if (kill(process, 0) != 0) return errno == ESRCH;
  const int descriptor = net::process_descriptor(process);
  if (descriptor < 0) return false;
  pollfd end{descriptor, POLLIN, 0};
  const bool died = poll(&end, 1, 0) == 1;
  close(descriptor);
  return died;
}

}  // namespace

void Mutex::wake() { futex_wake(&word_, 1); }

bool Mutex::lock_contended(uint32_t own, bool takes_over) {
  for (int i = 0; i < spins; ++i) {
    uint32_t now = word_.load(std::memory_order_relaxed);
    if (now == 0 && word_.compare_exchange_strong(now, own, std::memory_order_acquire)) return true;
    relax_processor();
  }
  for (;;) {
    uint32_t now = word_.load(std::memory_order_relaxed);
    if (now == 0) {
      // others may still be asleep
      if (word_.compare_exchange_strong(now, own | sleepers, std::memory_order_acquire))
        return true;
      continue;
    }
    if (now == spoilt) return false;
    const uint32_t marked = now | sleepers;
    if (now != marked && !word_.compare_exchange_strong(now, marked, std::memory_order_relaxed))
      continue;
    futex_wait(&word_, marked, longest_sleep_ns);
    if (word_.load(std::memory_order_relaxed) != marked ||
        !has_died(static_cast<pid_t>(marked >> 1)))
      continue;
    uint32_t dead = marked;
    if (!word_.compare_exchange_strong(dead, takes_over ? own | sleepers : spoilt,
                                       std::memory_order_acquire))
      continue;
    if (!takes_over) futex_wake(&word_, INT_MAX);
    return takes_over;
  }
}

}  // namespace nearcache::rma
