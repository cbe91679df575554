// SPDX-License-Identifier: BSD-3-Clause
#include "rma/agent.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/futex.h"
#include "net/process_memory.h"

namespace nearcache::rma {
namespace {

// Most round trips are over by then. A rank that spins longer may keep its target's agent from
// getting a core.
constexpr uint64_t spin_ns = 30000;

// If others send more requests than this rank can serve, every poll finds something. The thread
// that has the mutex then leaves it to others that want it, which may have to come to a core first.
constexpr uint64_t others_turn_ns = 100000;

// After the agent was woken for nothing, this many waits begin by disarming it.
constexpr int waits_after_waking = 200;

// For a spinning thread: the rank that it waits for may be on the same core, even if there are
// enough cores for all. It yields first, when nothing can have come yet.
void relax_or_yield(int turn) {
  if (turn % 4 == 0)
    sched_yield();
  else
    relax_processor();
}

// a follower's sleep, which ends earlier when it is called
constexpr uint64_t long_ns = 1000000000;

// between two calls of the host by a waiting thread
constexpr uint64_t nap_ns = 1000000;

}  // namespace

void Agent::watch(int peer, pid_t process) {
  if (const int descriptor = net::process_descriptor(process); descriptor >= 0)
    watched_.emplace(descriptor, peer);
}

std::string Agent::start() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  end_bell_ = eventfd(0, EFD_CLOEXEC);
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  epoll_event end{.events = EPOLLIN, .data = {.fd = end_bell_}};
  epoll_event timer{.events = EPOLLIN, .data = {.fd = timer_}};
  epoll_event fabric{.events = EPOLLIN, .data = {.fd = engine_->fabric().wait_descriptor()}};
  if (epoll_ < 0 || end_bell_ < 0 || timer_ < 0 ||
      epoll_ctl(epoll_, EPOLL_CTL_ADD, end_bell_, &end) != 0 ||
      epoll_ctl(epoll_, EPOLL_CTL_ADD, timer_, &timer) != 0 ||
      epoll_ctl(epoll_, EPOLL_CTL_ADD, fabric.data.fd, &fabric) != 0) {
    return std::string("the agent cannot watch the network: ") + std::strerror(errno);
  }
  for (const auto& [descriptor, peer] : watched_) {
    epoll_event ended{.events = EPOLLIN, .data = {.fd = descriptor}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &ended);
  }
  engine_->fabric().use_set(epoll_);
  rearm();
  // Signals are left to the program's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::string wrong;
  try {
    thread_ = std::thread(&Agent::run, this);
    running_ = true;
  } catch (const std::exception& error) {
    wrong = std::string("the agent cannot start a thread: ") + error.what();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return wrong;
}

void Agent::stop() {
  if (thread_.joinable()) {
    {
      const Lock lock(this);
      ending_ = true;
    }
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(end_bell_, &one, sizeof one);
    thread_.join();
  }
  if (epoll_ >= 0) {
    const Lock lock(this);
    engine_->use_tables(nullptr, nullptr);
    engine_->fabric().use_set(-1);
  }
  running_ = false;
  for (int* descriptor : {&epoll_, &end_bell_, &timer_}) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
  }
  for (const auto& [descriptor, peer] : std::exchange(watched_, {})) close(descriptor);
}

// Returns true if the descriptor is that of a process, which has ended.
bool Agent::told_of_end(int descriptor) {
  const auto found = watched_.find(descriptor);
  if (found == watched_.end()) return false;
  const int peer = std::exchange(found->second, -1);
  epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
  engine_->ended(peer);
  engine_->push();
  if (asleep_) engine_->fabric().ring();
  return true;
}

// See net/descriptor_tables.h. Standard descriptors are for messages of the C library.
void Agent::have_own_table() {
  const Lock lock(this);
  std::vector<int> kept{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, epoll_, end_bell_, timer_};
  for (const auto& [descriptor, peer] : watched_) kept.push_back(descriptor);
  if (engine_->use_tables(&tables_, &kept) && tables_.part(kept)) return settle();
  engine_->use_tables(nullptr, nullptr);
}

void Agent::run() {
  pthread_setname_np(pthread_self(), "nearcache-agent");
  have_own_table();
  for (;;) {
    epoll_event event{.events = 0, .data = {.fd = -1}};
    epoll_wait(epoll_, &event, 1, -1);
    const Lock lock(this);
    if (ending_) return;
    if (event.data.fd == timer_) {
      uint64_t times;
      [[maybe_unused]] const ssize_t got = read(timer_, &times, sizeof times);
      timed_ = false;
      if (timer_goes_on()) continue;
      if (leased_ && !polling_) watch_fabric(true);
      leased_ = lent_ = false;
    }
    if (told_of_end(event.data.fd)) tell_followers();
    const bool by_all = event.data.fd == engine_->fabric().wait_descriptor();
    if (by_all && !rests() && (polling_ || leased_)) stop_watching();
    const bool by_fabric = by_all || event.data.fd == engine_->fabric().separate_descriptor();
    if (by_fabric) engine_->fabric().woken(event.data.fd);
    bool any = false;
    while (!polling_ && !ending_) {
      any = engine_->poll() || any;  // if there is more, it is told again
      if (engine_->fabric().arm()) break;
      give_way();
    }
    if (!any && by_fabric) disarms_first_ = waits_after_waking;
    if (!any) continue;
    if (!polling_ && !leased_) set_watched(true);
    busy_until_ = system_ns() + busy_ns;
    busy_.store(true, std::memory_order_relaxed);
  }
}

void Agent::enter() {
  if (try_lock()) return;
  const uint64_t began = system_ns();
  wanting_.fetch_add(1, std::memory_order_relaxed);
  lock();
  wanting_.fetch_sub(1, std::memory_order_relaxed);
  pause_.wait(began, system_ns());
}

// Called by a thread that would otherwise continue at once: releases the mutex to others that want
// it.
void Agent::give_way() {
  if (wanting_.load(std::memory_order_relaxed) == 0) return;
  mutex_.unlock();
  const uint64_t began = system_ns();
  while (wanting_.load(std::memory_order_relaxed) > 0 && system_ns() - began < others_turn_ns)
    sched_yield();
  lock();
}

void Agent::poll(const Lock&) {
  const bool any = engine_->poll();
  if (asleep_ || !polling_) rearm();
  if (any) tell_others();
}

void Agent::tell_others() {
  if (asleep_) engine_->fabric().ring();
  tell_followers();
}

// Another thread may wait for it.
void Agent::take_own() {
  if (engine_->run_own()) tell_others();
}

void Agent::wait_for(Condition done, Step step, bool together) {
  if (engine_->run_own()) {
    tell_others();
    if (done()) return send(step);
  }
  if (!polling_) {
    polling_ = true;
    begin_to_poll(together);
  } else {
    engine_->push();
    if (follow(done) == Follower::has_it) return;
  }
  poll_until(done);
  leave(step);
}

void Agent::send_held(Step step) {
  if (polling_) return engine_->push();
  polling_ = true;
  note_call();
  disarm();
  engine_->push();
  engine_->poll();
  leave(step);
}

// Called by a thread that is about to poll, before it sends: that is no part of the pause.
void Agent::note_call() {
  if (pause_.has_begun()) habits_[static_cast<size_t>(left_)].note(pause_.at(system_ns()));
}

// Called by a thread that is about to poll.
void Agent::disarm() {
  passed_ = false;
  if (!leased_ || rests()) watch_fabric(false);
  leased_ = lent_ = false;
}

// Called by a thread that has polled. If others follow it, one of them must take its place.
void Agent::leave(Step step) {
  tell_followers();
  if (!followers_.empty()) {
    Follower* const next = followers_.front();
    followers_.erase(followers_.begin());
    return call(next, Follower::to_poll);
  }
  polling_ = false;
  lent_ = lends(step);
  if (lent_) return;
  rest();
  // The program's time begins here: if something has already arrived, the agent may just have run.
  // When that counted, too, ranks in a loop of fences did not get out of this state.
  if (expects_calls()) pause_.begin(system_ns());
}

void Agent::begin_to_poll(bool together) {
  note_call();
  if (disarms_first_ == 0 && !together && !rests()) engine_->push();
  disarm();
  engine_->push();
  if (disarms_first_ > 0) --disarms_first_;
}

void Agent::wait_long(Doorbell* bell, Condition done) {
  const uint64_t began = system_ns();
  while (system_ns() - began < spin_ns) {
    for (int turn = 0; turn < 8; ++turn) {
      if (done()) return;
      relax_or_yield(turn);
    }
  }
  if (is_lent()) end_lease();
  let_go();
  // done() may use up what it finds, so its result is kept.
  bool found = done();
  while (!found) {
    if (idle_ != nullptr) idle_();
    if (!running_) {  // nobody else answers requests in the meantime
      const Lock lock(this);
      poll(lock);
    }
    bell->wait([&] { return found = done(); }, nap_ns);
  }
}

void Agent::call_those_who_have_it() {
  std::erase_if(followers_, [](Follower* each) {
    if (!each->done()) return false;
    call(each, Follower::has_it);
    return true;
  });
}

// Under the mutex: the follower does not return before it has the mutex too, so its word still
// exists.
void Agent::call(Follower* follower, uint32_t what) {
  follower->call.store(what, std::memory_order_release);
  futex_wake(&follower->call);
}

// The polling thread may be asleep, and this thread may wait for a message of the rank to itself.
uint32_t Agent::follow(Condition done) {
  if (asleep_) engine_->fabric().ring();
  Follower self{done};
  followers_.push_back(&self);
  mutex_.unlock();
  while (self.call.load(std::memory_order_acquire) == Follower::asleep)
    futex_wait(&self.call, Follower::asleep, long_ns);
  enter();
  return self.call.load(std::memory_order_relaxed);
}

void Agent::poll_until(Condition done) {
  uint64_t began = system_ns(), napped = began;
  unsigned sleeps = 0;
  for (int turn = 0; !done(); ++turn) {
    if (engine_->poll()) {
      tell_followers();
      began = system_ns();
      sleeps = 0;
      give_way();
      if (began - napped < nap_ns) continue;
      napped = began;
      call_host();
    } else if (wanting_.load(std::memory_order_relaxed) > 0) {
      mutex_.unlock();
      sched_yield();
      lock();
    } else if (engine_->fabric().receives()) {
      began = system_ns();
    } else if (turn % 8 != 0 || system_ns() - began < spin_ns) {
      relax_or_yield(turn);
    } else {
      // Nobody rings the fabric when this rank's turn comes by shared words.
      const bool naps = idle_ != nullptr || engine_->expects_turns();
      sleep(!naps ? -1 : sleeps == 0 ? 0 : 1);
      ++sleeps;
    }
  }
}

// A waiting thread that always finds something calls the host as often as one that naps.
void Agent::call_host() {
  if (idle_ == nullptr) return;
  mutex_.unlock();
  idle_();
  lock();
}

void Agent::sleep(int milliseconds) {
  if (!engine_->fabric().arm()) return;
  asleep_ = true;
  set_watched(false);
  set_all_watched(false);
  pollfd watched[] = {{engine_->fabric().wait_descriptor(), POLLIN, 0},
                      {engine_->fabric().separate_descriptor(), POLLIN, 0}};
  mutex_.unlock();
  if (idle_ != nullptr) idle_();
  ::poll(watched, 2, milliseconds);
  lock();
  engine_->fabric().woken(-1);
  asleep_ = false;
}

}  // namespace nearcache::rma
