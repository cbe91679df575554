// SPDX-License-Identifier: BSD-3-Clause

// Keeps an engine moving while its rank computes: a thread (the agent) that sleeps until something
// arrives. Also the lock under which threads of the program use the engine.
//
// Words used here. Operations are *held* while they are collected in a batch that is not sent yet.
// The agent is *armed* while arrivals wake it, and *disarmed* otherwise. A thread that waits inside
// the host *helps* by polling in the agent's place. A *lease* is a time during which the agent
// stays disarmed although no thread waits here, with a timer running: for a helping thread, or
// until the program's next call (the agent is then *lent*).
//
// One thread at a time polls the fabric. A waiting thread does so itself, for lowest latency: it
// disarms the agent, polls for 30 us, then sleeps on the fabric's descriptor (a millisecond at a
// time, if there is an idle function). Threads that wait in the meantime follow it, each asleep on
// a word of its own. The polling thread checks whether they have what they wait for, and wakes
// those that do. When it has what it waited for itself, it wakes one of the others to poll in its
// place; if there is none, it arms the agent again. (When all were woken by every arrival, and the
// agent was armed and disarmed between any two, four threads with small puts and flushes took a
// third longer.)
//
// Held operations are sent before the agent is disarmed: disarming takes 0.3 us, during which they
// are on their way. But ranks that do the same together, as in a fence, send at the same time; and
// the target's agent may come to this core at once, before this thread continues. What arrives in
// between wakes the agent for nothing. So in the first case, and 200 times after the second, the
// agent is disarmed first.
//
// A thread that waits in the host calls help(), if the host has a hook for that. When other ranks'
// requests have just woken the agent, more are to be expected. For the next half millisecond such a
// thread, once it has waited for 20 us, therefore polls in the agent's place, because the agent has
// to come to a core first each time. The agent stays disarmed until the thread returns from the
// host's call (helped()). Not all calls report this, so a timer arms the agent again when the last
// poll was 250 us ago. The timer is not reset each time, which takes 20 us on some virtual
// machines. Whenever it finds that a thread has polled, it waits twice as long, up to 2 ms, because
// the agent has to come to a core to find out. While there are no requests, help() reads two flags.
// If there was one in the last 50 us, it polls for 3 us before the host has its next turn.
//
// Between calls that follow each other at once the agent stays disarmed as well. This saves two
// system calls, and the agent, which would have to come to a core, is not woken by what the next
// call takes. Whether the next call is likely to follow is predicted by the kind of this call
// (habit.h). If it does not, the same timer arms the agent, after 2 ms at worst; so does a helping
// thread, or a call of a host that has no hook.
//
// Fabrics that need no system call to be polled (`rests_unless_armed`) need none to be disarmed
// either, since nobody rings a rank that polls. With these, the agent is armed whenever a thread
// leaves or has helped, without a timer, and goes on watching the descriptor until a thread of the
// program is about to sleep on it.
//
// A fabric may have a separate connection, with a descriptor of its own (Fabric::use_set). The
// agent then watches two descriptors. Disarming it turns off only that of the connection, as the
// others are seldom in use. If the other one wakes the agent then, the agent turns it off as well,
// and has the connection put back. A thread that is going to sleep turns both off.
//
// Why no wake-up is lost:
//   - The fabric's descriptor is level-triggered: what has arrived and was not taken keeps it
//     readable, however late somebody begins to look. So the next one to look finds it, be it the
//     agent (arming is an EPOLL_CTL_MOD, which reports what is readable already) or another thread.
//     For fabrics that take things from the system before they are polled, this holds from
//     Fabric::arm to the next poll. Therefore a thread that is going to sleep arms the fabric
//     first, under the mutex, and every poll while another thread may be asleep is followed by
//     another Fabric::arm (`rearm`, which rings if the fabric wants to be polled first).
//   - `polling_` changes under the mutex, together with arming. Whenever it is false, the agent is
//     armed, or disarmed for a lease while the timer runs. Whenever it is true, a thread polls or
//     sleeps on the same descriptor, and hands over before it leaves. An agent that woke up before
//     it was disarmed finds `polling_` set and sleeps again.
//   - What a thread waits for changes only under the mutex. A thread that changes something checks
//     all followers before it releases the mutex to sleep, or leaves. If the polling thread is
//     asleep (`asleep_`, set under the mutex), a thread that has changed something in its place
//     rings it. The bell stays readable until the next poll, so it also wakes a thread that was
//     just about to sleep.
//   - A thread that leaves while others follow calls one of them to poll, and `polling_` stays set
//     until that one has left in turn. So every follower has a thread that polls for it, or will.
//     The thread that is called first checks whether it has what it waits for itself.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/spin.h"
#include "rma/engine.h"
#include "rma/habit.h"

namespace nearcache::rma {

class Agent {
 public:
  // Kinds of calls, which differ in what is likely to come after them.
  enum class Step : uint8_t { other, flush, unlock, fence, post, start, complete, wait };
  static constexpr size_t steps = 8;

  // `idle`, if not null, is called now and then by a waiting thread, without the lock, for a host
  // library that makes progress only when called.
  explicit Agent(Engine* engine, void (*idle)() = nullptr) : engine_(engine), idle_(idle) {}
  ~Agent() { stop(); }

  // Before start(): watches the process of a rank on this node, and tells the engine when it ends.
  // Does nothing if the kernel cannot report that.
  void watch(int peer, pid_t process);
  // Starts the thread. Returns what went wrong, or "". The fabric must have a wait descriptor.
  std::string start();
  // Tells the agent that the host calls help() while a thread waits in it. Must be called before
  // other threads know of the agent.
  void expect_help() { host_lets_help_ = true; }
  // Ends the thread. From then on the engine moves only while a thread waits. Call without the
  // lock.
  void stop();

  // Must be held while the engine and its windows are used.
  class Lock {
   public:
    explicit Lock(Agent* agent) : agent_(agent) { agent->enter(); }
    ~Lock() { agent_->mutex_.unlock(); }
    // Releases the lock while it calls `wait`.
    template <class Wait>
    void without(Wait wait) {
      agent_->mutex_.unlock();
      wait();
      agent_->enter();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Agent* agent_;
  };

  // Sends held operations, and waits until done() is true. The lock must be held; it is released
  // now and then in the meantime. done() is called under the lock, and not again once it has
  // returned true. `together`: other ranks are likely to do the same at the same time.
  template <class Done>
  void wait(const Lock&, Done done, Step step = Step::other, bool together = false) {
    if (done()) return send(step);
    wait_for({&done, [](void* object) { return (*static_cast<Done*>(object))(); }}, step, together);
  }
  // Waits until done() is true, which depends on words that other ranks of the node change; they
  // ring `bell` afterwards. Call without the lock: the agent goes on.
  template <class Done>
  void wait(Doorbell* bell, Done done) {
    for (int turn = 0; turn < 100; ++turn) {
      if (done()) return;
      relax_processor();
    }
    wait_long(bell, {&done, [](void* object) { return (*static_cast<Done*>(object))(); }});
  }
  // Sends held operations, and takes what has arrived. The lock must be held.
  void send(const Lock&, Step step = Step::other) { send(step); }
  // Like send(), for a thread that waits for nothing: sends only the second time, because held
  // operations may be the first part of more.
  void pass(const Lock&, Step step) {
    passed_ = !passed_ && engine_->holds();
    if (!passed_) send(step);
  }
  // Like send(), for a thread that is about to wait for, or check on, something outside of the
  // engine. Call without the lock.
  void let_go() {
    if (is_lent() && !host_lets_help_) end_lease();
    if (!engine_->holds()) return;
    const Lock lock(this);
    send(Step::other);
  }
  // Whether let_go() has anything to do.
  [[gnu::always_inline]] bool may_let_go() const {
    return engine_->holds() || (is_lent() && !host_lets_help_);
  }
  // Moves what can be moved now. The lock must be held.
  void poll(const Lock&);
  // Called again and again by a thread that waits for something outside of the engine, without the
  // lock. May poll in the agent's place. Returns true if something arrived.
  bool help() { return (busy_.load(std::memory_order_relaxed) || is_lent()) && help_while_busy(); }
  // The agent is disarmed for a lease: a thread helps, or is_lent().
  bool is_helped() const { return leased_.load(std::memory_order_relaxed); }
  // The agent is disarmed until the program's next call, or until the timer finds that it is late.
  bool is_lent() const { return lent_.load(std::memory_order_relaxed); }
  // Whether a thread has called help() with something to do, and helped() has not been called
  // since.
  [[gnu::always_inline]] bool is_helping() const {
    return helped_since_.load(std::memory_order_relaxed) != 0;
  }
  // The thread that has called help() has returned from the host's call.
  void helped() {
    if (!is_helping()) return;
    helped_since_.store(0, std::memory_order_relaxed);
    if (is_helped() && !is_lent()) end_lease();
  }

 private:
  static constexpr uint64_t busy_ns = 500000, lease_ns = 250000;

  struct Condition {
    void* object;
    bool (*call)(void*);
    bool operator()() const { return call(object); }
  };

  // A thread that waits while another one polls. On that thread's stack.
  struct Follower {
    Condition done;
    enum : uint32_t { asleep, has_it, to_poll };
    std::atomic<uint32_t> call{asleep};
  };

  void wait_long(Doorbell* bell, Condition done);
  void enter();
  // The mutex is always taken by one of these.
  void lock() {
    mutex_.lock();
    settle();
  }
  bool try_lock() {
    if (!mutex_.try_lock()) return false;
    settle();
    return true;
  }
  void settle() {
    if (tables_.must_settle()) [[unlikely]]
      engine_->fabric().settle();
  }
  void give_way();
  void call_host();
  void send(Step step) {
    if (engine_->has_own()) [[unlikely]]
      take_own();
    if (engine_->holds()) send_held(step);
  }
  void take_own();
  void send_held(Step step);
  void note_call();
  void disarm();
  void leave(Step step);
  // Whether anything is gained by knowing that the next call comes at once.
  bool expects_calls() const { return running_ && !rests(); }
  bool lends(Step step);
  void wait_for(Condition done, Step step, bool together);
  void tell_others();
  void tell_followers() {
    if (!followers_.empty()) [[unlikely]]
      call_those_who_have_it();
  }
  void call_those_who_have_it();
  static void call(Follower* follower, uint32_t what);
  void begin_to_poll(bool together);
  void poll_until(Condition done);
  void sleep(int milliseconds);
  uint32_t follow(Condition done);
  void watch_fabric(bool armed);
  void set_watched(bool wanted);
  void set_all_watched(bool wanted);
  void stop_watching();
  void rearm() {
    if (!engine_->fabric().arm()) engine_->fabric().ring();
  }
  void rest();
  bool rests() const { return engine_->fabric().rests_unless_armed(); }
  bool help_while_busy();
  bool look(uint64_t now);
  void take_its_place(uint64_t now);
  bool lease(uint64_t now, uint64_t span);
  bool set_timer();
  bool timer_goes_on();
  void end_lease();
  bool told_of_end(int descriptor);
  void have_own_table();
  void run();

  Engine* engine_;
  void (*idle_)();
  std::mutex mutex_;
  std::atomic<int> wanting_{0};       // threads that want the mutex; a polling thread lets them in
  bool polling_ = false;              // a thread of the program polls, or was called to
  bool asleep_ = false;               // that thread sleeps
  bool passed_ = false;               // pass() has left held operations unsent
  std::vector<Follower*> followers_;  // oldest first; a thread that is called is removed
  std::atomic<bool> running_{false};  // waiting threads read it without the mutex
  bool ending_ = false;
  bool fabric_watched_ = true;  // the agent watches the fabric's descriptor
  bool host_lets_help_ = false;
  // The agent is disarmed for a helping thread, or for the next call (`lent_`). Written under the
  // mutex.
  std::atomic<bool> leased_{false}, lent_{false};
  std::array<Habit, steps> habits_;
  Step left_ = Step::other;  // kind of the last call
  Pause pause_;  // since its end; has not begun if there was none, or it does not matter
  // since when a thread waits in the host, ns; 0: none does, or there is nothing to do for it
  std::atomic<uint64_t> helped_since_{0};
  bool timed_ = false;              // the timer is set
  uint64_t lease_span_ = lease_ns;  // ns that the timer is set for
  uint64_t lease_end_ = 0;          // ns
  std::atomic<bool> busy_{false};   // something arrived recently, for the agent or a helper
  uint64_t busy_until_ = 0;         // ns; then `busy_` ends
  uint64_t expected_until_ = 0;     // ns; until then a helping thread expects more to arrive
  int disarms_first_ = 0;           // this many waits disarm the agent before they send
  int epoll_ = -1, end_bell_ = -1, timer_ = -1;
  // ranks of this node, by descriptor of their process; -1: has ended
  std::unordered_map<int, int> watched_;
  net::DescriptorTables tables_;
  std::thread thread_;
};

}  // namespace nearcache::rma
