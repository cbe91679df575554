// Makes an engine move while its rank computes: a thread that sleeps until something comes. And the
// lock under which threads of the program use the engine.
//
// One at a time looks at the fabric. A thread that waits does it itself, for lowest latency: it
// disarms the agent, polls for 30 us, then sleeps on the fabric's descriptor (a millisecond at a
// time, if there is an idle function); others that wait meanwhile follow it, each asleep on a word
// of its own. The one that polls looks whether they have what they wait for, and wakes those that
// do. When it has what it waited for itself it wakes one of the others to poll in its place; if
// there is none it arms the agent again. (When all were woken for all that came, and the agent was
// armed and disarmed between any two, four threads with small puts and flushes took a third
// longer.)
//
// What is held is sent before the agent is disarmed: that takes 0.3 us, in which it is on its way.
// But ranks that do the same together, as in a fence, send at the same time; and the target's agent
// may come to this core at once, before this thread goes on. What comes meanwhile wakes the agent
// for nothing. So in the one case, and 200 times after the other, it is disarmed before.
//
// A thread that waits in the host calls `help` if the host has a hook for that. When the agent has
// just been woken by what others ask for, more is to be expected: for the next half millisecond
// such a thread, once it has waited for 20 us, polls in the agent's place, which has to come to a
// core first each time. The agent is disarmed until that thread is back from the host's call
// (`helped`). Not all calls tell that: so a timer arms it again when the last look is 250 us ago.
// It is not set anew each time, as that takes 20 us in some virtual machines, and waits twice as
// long whenever it finds that somebody looked, up to 2 ms, as the agent has to come to a core to
// see that. Where nobody asks for anything, `help` looks at one word. Where something was asked for
// in the last 50 us, it looks for 3 us before the host has its next turn.
//
// Between calls that follow each other at once the agent is disarmed as well: that spares two calls
// of the system, and the agent, which has to come to a core, is not woken by what the next call
// takes. Whether one is likely to follow, habit says, by what kind of call this was (habit.h). If
// it does not, the same timer arms the agent, after 2 ms at worst; and so does who
// helps, and a call of a host that lets nobody help.
//
// Fabrics that need no call of the system to be polled (`rests_unless_armed`) make none either to
// be disarmed: nobody rings where somebody looks. So of those the agent is armed whenever a thread
// leaves, or has helped, without a timer; it goes on to watch the descriptor until a thread of the
// program is about to sleep on it.
//
// Why no wake-up is lost:
//   - The fabric's descriptor is level-triggered: what came, and nobody took, keeps it readable,
//     however late anybody begins to look. So whoever looks next finds it, be it the agent (arming
//     is an EPOLL_CTL_MOD, which reports what is readable already) or another thread. Of fabrics
//     that take things from the system before they are polled for, this is so from Fabric::arm to
//     the next poll: under the mutex, the one that is to sleep arms the fabric before, and every
//     poll while somebody may be asleep is followed by another (`rearm`, which rings if the fabric
//     wants to be polled first).
//   - `polling_` changes under the mutex, together with arming. Whenever it is false the agent is
//     armed, or disarmed for a lease while the timer runs; whenever it is true a thread polls, or
//     sleeps on the same descriptor, and hands over before it leaves. An agent that woke up before
//     it was disarmed finds `polling_` set, and sleeps again.
//   - What a thread waits for changes under the mutex only. Whoever changes something looks at all
//     that follow before it gives the mutex up to sleep, or leaves. The one that polls, if it is
//     asleep (`asleep_`, set under the mutex), is rung by whoever changed something in its place;
//     the bell stays readable until the next poll, so it is heard also by one that was just about
//     to sleep.
//   - Whoever leaves while others follow calls one of them to poll, and `polling_` stays set until
//     that has left in turn: so whoever follows has somebody who polls, or will. Who is called
//     looks for itself, first whether it has what it waits for.
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
  // Calls, by what is likely to come after them.
  enum class Step : uint8_t { other, flush, unlock, fence, post, start, complete, wait };
  static constexpr size_t steps = 8;

  // `idle` is called now and then by a thread that waits, without the lock: so that a host library
  // moves on which needs to be called for that.
  explicit Agent(Engine* engine, void (*idle)() = nullptr) : engine_(engine), idle_(idle) {}
  ~Agent() { stop(); }

  // Before `start`: a rank of this node and its process, whose end is told to the engine. Where the
  // kernel does not tell, nobody does.
  void watch(int peer, pid_t process);
  // Returns what is wrong, or "". The fabric must have a wait descriptor.
  std::string start();
  // The host calls `help` while a thread waits in it. Before others know of the agent.
  void expect_help() { host_lets_help_ = true; }
  // From then on the engine moves only while somebody waits. Not under the lock.
  void stop();

  // Held while the engine and its windows are used.
  class Lock {
   public:
    explicit Lock(Agent* agent) : agent_(agent) { agent->enter(); }
    ~Lock() { agent_->mutex_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Agent* agent_;
  };

  // Sends what is held, and waits until `done`, which is asked under the lock, and not again once
  // it has said yes. Under the lock, which is given up on the way. `together`: others are likely to
  // do the same at the same time.
  template <class Done>
  void wait(const Lock&, Done done, Step step = Step::other, bool together = false) {
    if (done()) return send(step);
    wait_for({&done, [](void* object) { return (*static_cast<Done*>(object))(); }}, step, together);
  }
  // Waits until words say so that others of the node change, who then ring this bell. Not under the
  // lock: the agent goes on.
  template <class Done>
  void wait(Doorbell* bell, Done done) {
    for (int turn = 0; turn < 100; ++turn) {
      if (done()) return;
      relax_processor();
    }
    wait_long(bell, {&done, [](void* object) { return (*static_cast<Done*>(object))(); }});
  }
  // Sends what is held, and takes what came meanwhile. Under the lock.
  void send(const Lock&, Step step = Step::other) { send(step); }
  // The same of who waits for nothing: only the second time, as what is held may be the first part
  // of more.
  void pass(const Lock&, Step step) {
    passed_ = !passed_ && engine_->holds();
    if (!passed_) send(step);
  }
  // The same of who is about to wait, or to look, for something else. Not under the lock.
  void let_go() {
    if (is_lent() && !host_lets_help_) end_lease();
    if (!engine_->holds()) return;
    const Lock lock(this);
    send(Step::other);
  }
  // Moves what can be moved now. Under the lock.
  void poll(const Lock&);
  // Of whoever waits for something else, again and again. Not under the lock. True if something
  // came.
  bool help() { return (busy_.load(std::memory_order_relaxed) || is_lent()) && help_while_busy(); }
  // Somebody who does so is in the agent's place.
  bool is_helped() const { return leased_.load(std::memory_order_relaxed); }
  // Of who has just waited: the agent is disarmed until the next call, or until it is late.
  bool is_lent() const { return lent_.load(std::memory_order_relaxed); }
  // Who did so is back.
  void helped() {
    if (helped_since_.load(std::memory_order_relaxed) == 0) return;
    helped_since_.store(0, std::memory_order_relaxed);
    if (is_helped() && !is_lent()) end_lease();
  }

 private:
  struct Condition {
    void* object;
    bool (*call)(void*);
    bool operator()() const { return call(object); }
  };

  // One that waits while another polls; on its stack.
  struct Follower {
    Condition done;
    enum : uint32_t { asleep, has_it, to_poll };
    std::atomic<uint32_t> call{asleep};
  };

  void wait_long(Doorbell* bell, Condition done);
  void enter();
  void give_way();
  void call_host();
  void send(Step step) {
    if (engine_->holds()) send_held(step);
  }
  void send_held(Step step);
  void disarm();
  void leave(Step step);
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
  void run();

  Engine* engine_;
  void (*idle_)();
  std::mutex mutex_;
  std::atomic<int> wanting_{0};  // threads that want the mutex: a thread that polls lets them
  bool polling_ = false;         // a thread of the program looks at the fabric, or is called to
  bool asleep_ = false;          // it sleeps
  bool passed_ = false;          // what is held was held as well when a thread passed by
  std::vector<Follower*> followers_;  // oldest first; those who are called are no longer among them
  std::atomic<bool> running_{false};  // read by who waits, without the mutex
  bool ending_ = false;
  bool fabric_watched_ = true;  // the fabric's descriptor, by the agent
  bool host_lets_help_ = false;
  // The agent is disarmed for who helps, or for the next call (`lent_`). Changes under the mutex.
  std::atomic<bool> leased_{false}, lent_{false};
  std::array<Habit, steps> habits_;
  Step left_ = Step::other;  // the last call, and when it was over
  uint64_t left_at_ = 0;     // ns
  // ns. 0: nobody waits in the host while there is much to do
  std::atomic<uint64_t> helped_since_{0};
  bool timed_ = false;             // the timer runs, for
  uint64_t lease_span_ = 0;        // ns
  uint64_t lease_end_ = 0;         // ns
  std::atomic<bool> busy_{false};  // something came to the agent, or to who helps, until
  uint64_t busy_until_ = 0;        // ns
  uint64_t expected_until_ = 0;    // ns: something came to who helps, and more is to be expected
  int disarms_first_ = 0;          // of so many threads that wait
  int epoll_ = -1, end_bell_ = -1, timer_ = -1;
  std::unordered_map<int, int> watched_;  // ranks of this node by descriptor of their process
  std::thread thread_;
};

}  // namespace nearcache::rma
