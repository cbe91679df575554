#include "rma/shared_words.h"

#include <signal.h>

#include <cerrno>

#include "base/spin.h"

namespace nearcache::rma {
namespace {

// Few operations take longer, so one that does belongs to a rank that has lost its core.
constexpr int spins = 100;
constexpr uint64_t patience_ns = 20000000;

}  // namespace

void Mutex::lock_contended(uint32_t own) {
  for (int i = 0; i < spins; ++i) {
    uint32_t now = word_.load(std::memory_order_relaxed);
    if (now == 0 && word_.compare_exchange_strong(now, own, std::memory_order_acquire)) return;
    relax_processor();
  }
  for (;;) {
    uint32_t now = word_.load(std::memory_order_relaxed);
    if (now == 0) {
      // others may sleep yet
      if (word_.compare_exchange_strong(now, own | sleepers, std::memory_order_acquire)) return;
      continue;
    }
    const uint32_t marked = now | sleepers;
    if (now != marked && !word_.compare_exchange_strong(now, marked, std::memory_order_relaxed))
      continue;
    futex_wait(&word_, marked, patience_ns);
    const auto holder = static_cast<pid_t>(marked >> 1);
    if (word_.load(std::memory_order_relaxed) != marked || kill(holder, 0) == 0 || errno != ESRCH)
      continue;
    uint32_t dead = marked;
    if (word_.compare_exchange_strong(dead, own | sleepers, std::memory_order_acquire)) return;
  }
}

}  // namespace nearcache::rma
