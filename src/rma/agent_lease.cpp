// SPDX-License-Identifier: BSD-3-Clause

// When the agent is armed, and when it is not: leases, threads that help, and what it watches.
#include <sched.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>

#include "base/clock.h"
#include "rma/agent.h"

namespace nearcache::rma {
namespace {

constexpr uint64_t longest_lease_ns = 2000000;

// In a shorter wait, polling would disturb the host for longer than the agent needs to get a core.
constexpr uint64_t patience_ns = 20000;

// When ranks send one request after the other, the next arrives within `soon_ns`. One turn of a
// host's progress takes 1 to 2 us, so a thread that polled once a turn would find it half a turn
// late.
constexpr uint64_t soon_ns = 50000, look_ns = 3000;

// If others send more requests than this rank can serve, every poll finds something. A helping
// thread then returns.
constexpr uint64_t longest_look_ns = 20000;
constexpr int most_looks_to_rest = 4;

}  // namespace

// Returns true if the agent stays disarmed because the next call is likely to come at once.
bool Agent::lends(Step step) {
  left_ = step;
  if (!expects_calls() || !habits_[static_cast<size_t>(step)].expects()) return false;
  pause_.begin(system_ns());
  return lease(pause_.began(), Habit::at_once_ns);
}

// Called by a thread that leaves: arms the agent, in case the thread is not back at once.
void Agent::rest() {
  if (!rests()) return watch_fabric(true);
  if (!engine_->fabric().arm_briefly()) engine_->fabric().ring();
  set_watched(true);
}

bool Agent::help_while_busy() {
  const uint64_t now = system_ns(), since = helped_since_.load(std::memory_order_relaxed);
  if (since == 0) helped_since_.store(now, std::memory_order_relaxed);
  if (since == 0 || now - since < patience_ns || !try_lock()) return false;
  bool any = false;
  if (running_ && !ending_ && !polling_) {
    any = look(now);
    if (any) busy_until_ = now + busy_ns;
    lent_ = false;
    if (now < busy_until_) {
      take_its_place(now);
    } else {
      busy_.store(false, std::memory_order_relaxed);
      leased_ = false;
      watch_fabric(true);
    }
  }
  const bool in_vain = !any && now < expected_until_;
  mutex_.unlock();
  if (in_vain) sched_yield();  // the requesting rank may be on the same core
  return any;
}

// Polls more than once if something is to be expected. After something has arrived, it returns once
// there is no more, or before long: it is the host's turn.
bool Agent::look(uint64_t now) {
  bool any = engine_->poll();
  if (now < expected_until_) {
    while (!any && wanting_.load(std::memory_order_relaxed) == 0 && system_ns() - now < look_ns)
      any = engine_->poll();
  }
  if (!any) return false;
  while (wanting_.load(std::memory_order_relaxed) == 0 && system_ns() - now < longest_look_ns &&
         engine_->poll()) {
  }
  expected_until_ = now + soon_ns;
  return true;
}

// For a thread that helps, and will again.
void Agent::take_its_place(uint64_t now) {
  if (!rests()) {
    if (!leased_) watch_fabric(false);
    if (!lease(now, lease_ns)) watch_fabric(true);
    return;
  }
  int looks = 0;
  while (!engine_->fabric().arm_briefly()) {
    if (looks++ == most_looks_to_rest) {
      engine_->fabric().ring();  // the agent continues
      break;
    }
    engine_->poll();
  }
  set_watched(true);
  leased_ = true;
}

// Begins a lease of `span` ns, which ends earlier if a thread polls. The agent is disarmed already.
bool Agent::lease(uint64_t now, uint64_t span) {
  lease_end_ = now + span;
  leased_ = timed_ || set_timer();
  return leased_;
}

// The timer is never stopped: it runs for one lease after the other.
bool Agent::set_timer() {
  itimerspec once{};
  once.it_value.tv_nsec = static_cast<long>(lease_span_);
  timed_ = timerfd_settime(timer_, 0, &once, nullptr) == 0;
  return timed_;
}

// While leases are in use, the timer fires less often. Returns true if it is set again.
bool Agent::timer_goes_on() {
  const uint64_t now = system_ns();
  const bool in_use = leased_ ? now < lease_end_ : polling_ && now < lease_end_ + lease_span_;
  lease_span_ = in_use ? std::min(2 * lease_span_, longest_lease_ns) : lease_ns;
  return in_use && set_timer();
}

// Arms the agent now, if the thread that has polled cannot do so in time.
void Agent::end_lease() {
  const Lock lock(this);
  if (leased_ && !polling_) watch_fabric(true);
  leased_ = lent_ = false;
}

void Agent::watch_fabric(bool armed) {
  if (!running_) return;
  if (armed) {
    rearm();
  } else {
    engine_->fabric().disarm();
  }
  if (armed || !rests()) set_watched(armed);
}

// While a connection is separate, the others are seldom in use, and stay watched.
void Agent::set_watched(bool wanted) {
  if (running_ && (!engine_->fabric().watch_separate(wanted) || wanted)) set_all_watched(wanted);
}

// The agent was woken for other connections than the separate one although it is disarmed.
void Agent::stop_watching() {
  engine_->fabric().watch_together();
  set_all_watched(false);
}

void Agent::set_all_watched(bool wanted) {
  if (!running_ || fabric_watched_ == wanted) return;
  fabric_watched_ = wanted;
  epoll_event event{.events = wanted ? EPOLLIN : 0u,
                    .data = {.fd = engine_->fabric().wait_descriptor()}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, event.data.fd, &event);
}

}  // namespace nearcache::rma
