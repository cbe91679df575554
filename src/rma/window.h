// SPDX-License-Identifier: BSD-3-Clause

// A window as one rank has it: what it has requested of others, and its own memory, on which it
// executes what others request (`exposure`).
//
// Nothing here waits. A call that must not return before something has happened tells its caller
// what to wait for: a mark, to be passed to reached(), or one of the predicates below. Messages to
// a target are numbered. A target executes those of one origin and window in order, so a reply
// implies that all messages up to its own are executed, and two numbers per target are all that
// completion needs. Operations are held (outbox.h) until a batch is full or somebody waits.
//
// Memory of near targets (near.h) that this rank can reach is read and written at once, if no
// message to the target is in flight: then there is nothing to wait for. If the target's lock is
// not free, operations are deferred until this rank's turn comes.
//
// In five files: window.cpp (near targets, replies, the end of other ranks), window_operations.cpp,
// window_transfers.cpp (RDMA), window_locks.cpp and window_epochs.cpp.
//
// Targets and origins are ranks of the window. One thread at a time, unless stated otherwise.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "rma/elements.h"
#include "rma/exposure.h"
#include "rma/fence.h"
#include "rma/held_messages.h"
#include "rma/members.h"
#include "rma/near.h"
#include "rma/near_fence.h"
#include "rma/node.h"
#include "rma/pending.h"
#include "rma/rank_map.h"
#include "rma/traffic.h"

namespace nearcache::rma {

class Engine;

// One operation, as the program requests it. `pieces` are runs of memory relative to the
// displacement, none of them empty; without pieces, there is one run of `length` bytes.
struct Transfer {
  Kind kind;
  int target = 0;
  int64_t displacement = 0;
  uint64_t length = 0;  // bytes of memory at the target
  std::span<const Piece> pieces = {};
  ElementLayout layout = {};  // instead of pieces: `length` bytes of such elements
  // data to send, packed. Compare-and-swap: the new value, then the one to compare with
  const std::byte* data = nullptr;
  std::byte* result = nullptr;  // where fetched data goes, packed
  Element element = Element::bytes;
  Operation operation = Operation::replace;
  uint64_t grain = 0;          // as in Action
  Completion completion = {};  // of an operation that fetches: when the result is here

  // Progress of Window::issue.
  uint64_t done = 0;
  size_t piece = 0;
  uint64_t of_piece = 0;
  uint64_t which_element = 0;
  SentLayouts::Sent* sent = nullptr;
  bool direct = false;  // done by the network, without the target
};

// How far requests to a target must have come: messages and, counted separately, what the network
// does without the target.
struct Mark {
  Mark(uint64_t of_messages = 0, uint64_t of_transfers = 0)
      : messages(of_messages), transfers(of_transfers) {}
  bool operator==(const Mark&) const = default;

  uint64_t messages, transfers;
};

class Window {
 public:
  // `node` as in Engine::open; it outlives the window.
  Window(Engine* engine, uint64_t id, Members members, Memory memory, Node* node = nullptr);
  ~Window();

  uint64_t id() const { return id_; }
  int rank() const { return rank_; }
  const Members& members() const { return members_; }
  Exposure& exposure() { return exposure_; }
  Engine& engine() const { return *engine_; }
  Commons& commons() const { return *commons_; }
  // That of this rank's lock.
  LockQueue queue() const { return queue_of(commons_); }
  // Tells the rank at this place of the node that its turn for a lock has come.
  void tell_turn(size_t place);

  // Returns a near target; null if the rank is not near. Any thread, once all have been found.
  Near* near(int rank) { return nears_in_row_ == 0 ? search_near(rank) : near_in_row(rank); }
  // Likewise, if no other ranks lie between the near ones; else null.
  Near* near_in_row(int rank) { return in_row(rank) ? &nears_[place_in_row(rank)] : nullptr; }
  bool in_row(int rank) const { return place_in_row(rank) < nears_in_row_; }
  // All near targets if no other ranks lie between them; else none.
  std::span<Near> row() { return {nears_, nears_in_row_}; }
  // in_row(rank) must be true.
  Near& of_row(int rank) { return nears_[place_in_row(rank)]; }
  std::span<Near> nears() { return {nears_, near_count_}; }
  size_t reached_nears();  // the number whose memory is reached without messages
  Near& own() { return *near(rank_); }
  // All members are near, and active-target epochs need no messages.
  bool all_near() const { return all_near_; }
  // Looks for what other ranks of the node have published. Returns true if nothing is missing any
  // more.
  bool find_nears();
  // In an open epoch: whether the target's memory may be used at once. This rank has the lock that
  // it wants, and there is no error to report.
  bool ready(int rank);
  // A put or get of one run in an open epoch, at a target that is reached through the kernel. If it
  // returns false, the operation must be issued, and may have been done in part already. Any
  // thread.
  static bool move_at_once(const Near& near, Kind kind, int64_t displacement, void* here,
                           uint64_t bytes);
  // queued(): this rank is in the queue for a near target's lock, and has deferred operations until
  // it gets the lock. Once it has_turn() (this window's bell then rings), the next take_turns()
  // executes them; so does Engine::poll. Any thread.
  bool queued(int rank);
  bool has_turn(int rank);
  // Returns true if there was a turn to take.
  bool take_turns();
  // Gives a lock that was released by its word, while somebody waited, to those whose turn it is.
  // Returns true if the target must be told, on behalf of a far rank, by tell_freed(). Any thread.
  bool hand_over(const Near& near);
  void tell_freed(const Near& near);
  // No message was ever sent to any target, and there was no error.
  bool silent() const { return targets_.empty(); }

  // Issues the operation, in parts if it is large. Returns false if so much is outstanding at the
  // target that the rest must wait until it is no longer crowded().
  bool issue(Transfer* transfer);
  bool crowded(int rank) const;
  // Like issue(), for a small put of one run to a target that is sent messages already. Returns
  // false, having done nothing, if issue() must be called instead.
  bool put_few(int rank, int64_t displacement, const void* data, uint64_t length);
  // Whether none of the network's transfers is in flight, to this target or to any. To be waited
  // for before calls that tell others of completion: `unlock`, `unlock_all`, `complete`,
  // `fence_enter`.
  bool transferred(int rank) const;
  bool transferred() const { return transfers_ == 0; }

  // Requests that everything issued to the target be executed. Held messages are sent when somebody
  // waits, here and below, or by Engine::push. Nothing is sent if nothing is outstanding. A lock
  // that is to go with the first operation is requested now: programs use a lock and a flush to
  // exclude others.
  Mark flush(int rank);
  // The mark is for operations that fetch. Sends what is held if there are none to wait for.
  Mark flush_local(int rank);
  bool reached(int rank, Mark mark) const;
  // Of the same for all targets. What other threads issue meanwhile is not waited for.
  void flush_all();
  bool all_reached() const;

  // The lock is requested with the first operation. `no_check`: the program promises that no other
  // lock conflicts with it.
  void lock(int rank, LockType type, bool no_check);
  // Requests the lock at once.
  Mark lock_now(int rank);
  // A thread waits for this lock, and no operation has been issued under it: flush_all() and
  // all_reached() leave the target out.
  void await_lock(int rank, bool waits) { target(rank).awaited = waits; }
  bool lock_is_awaited(int rank) const;
  // Whether the lock is wanted, without a thread that waits for it, and may not be granted yet.
  bool lock_is_due(int rank);
  // When the mark is reached, everything is executed and the lock is released.
  Mark unlock(int rank);
  // A shared lock of each target, requested with the first operation on it.
  void lock_all(bool no_check) { all_locked_ = !no_check; }
  bool locks_all() const { return all_locked_; }
  // Likewise complete once all_reached().
  void unlock_all();

  // If all members are near, these calls for active-target epochs use only words that the members
  // share; what they wait for changes before the window's bell rings. Then one thread at a time may
  // use them on a window, but calls on different windows of the engine may be concurrent.
  Doorbell& bell() { return commons_->bell; }
  void fence_enter();
  // All ranks have entered the fence, and what they had sent here is executed. What this rank
  // fetches also needs all_landed(). If only some members are near, fence_over() must also be true
  // for these.
  bool fence_met();
  bool all_landed() const;
  // Any thread.
  static bool fence_over(const Near& near, uint64_t fence) {
    return near.commons->fences_over.load(std::memory_order_acquire) >= fence;
  }
  // The number of fences entered, if fence_over() must be waited for; else 0.
  uint64_t fence_to_be_over() const {
    return node_ != nullptr && !all_near_ ? fence_.entered() : 0;
  }

  // Returns true if this rank has something to send, be it to itself.
  bool post(std::span<const int> origins);
  // Begins an access epoch: returns true once all near targets have posted, whose posts it uses up,
  // and no far target is crowded(). Far targets need not have posted: what is sent to them waits
  // there.
  bool started(std::span<const int> targets);
  void complete(std::span<const int> targets);
  bool completed_by(size_t origins);

  // Returns the first error of operations on the target, or on all targets, since the last call.
  // Among all targets, a lost member comes first.
  Status take_error(int rank);
  Status take_error();
  // A member is gone: what waits for all members would wait forever. Any thread.
  bool broken() const { return broken_.load(std::memory_order_relaxed); }

  // Called by the engine when something has arrived. They return false if no rank that follows the
  // protocol would send it.
  bool take(int peer, const Message& message);  // a request
  // Where the data of a put of one run goes while it arrives; null if the put must be taken as a
  // whole.
  std::byte* place_of_put(int peer, const Head& head) const;
  // The data has arrived. `in_place`: all of it is where it belongs.
  void put_apart(int peer, const Head& head, bool in_place);
  // Completes the requests taken, while their messages are still there.
  void settle();
  // Before closing: answers what still waits here.
  void refuse_held();
  bool take_token(int peer, const Message& message);
  // Whether all replies of the target that were requested before this one are here.
  bool is_due(const Pending& pending) const;
  void answered(const Pending& pending, Status status);
  void failed(int peer, Status status);
  void located(int rank, std::span<const Piece> where);
  void lost(int peer);
  // The peer's process has ended: releases locks that it had taken by their words.
  void ended(int peer);

 private:
  // Deferred until this rank gets a lock: an operation with all it refers to, or only a mark to be
  // reached then, with which the lock may be released (`unlock`).
  struct Deferred {
    int rank = 0;
    Transfer transfer{.kind = Kind::acknowledge};
    std::vector<Piece> pieces;
    std::vector<std::byte> data;
    Mark mark = 0;
    bool unlock = false;
  };

  // What only some windows need: for active-target epochs by messages, and under locks of near
  // targets that others hold.
  struct Rare {
    uint64_t starts = 0;  // access epochs with far targets
    // Posts not yet used by a start: of near targets, by rank, and of this rank, by far peer.
    std::unordered_map<int, uint32_t> posts, posted;
    // By peer: requests that come before this rank has posted, or after a fence that is not over
    // here. No peer is in both.
    std::unordered_map<int, HeldMessages> before_post, after_fence;
    // Once a member is gone: peers in an access epoch that this rank has not posted for.
    std::unordered_set<int> refused;
    std::vector<Deferred> deferred;
  };

  enum class Lock : uint8_t { none, wanted, held };
  struct Target {
    int rank = 0;
    Lock lock = Lock::none;
    LockType type = LockType::shared;
    Status error = Status::ok;
    bool refused : 1 = false;    // the lock is refused, because nobody knows who has it
    bool awaited : 1 = false;    // await_lock()
    bool has_asked : 1 = false;  // asks_reply(), since the last flush
    uint64_t operations = 0;     // since the last fence
    std::unique_ptr<Traffic> traffic;

    // Everything issued is known to be executed.
    bool quiet() const { return traffic == nullptr || traffic->issued == traffic->reached; }
    Direct* direct() const { return traffic == nullptr ? nullptr : traffic->direct.get(); }
  };
  static_assert(sizeof(Target) <= 24);

  static constexpr uint64_t most_outstanding = 4 << 20;  // bytes to one target
  // bytes after which a reply is requested, so that it comes before that limit is reached
  static constexpr uint64_t ask_after = 1 << 20;
  // bytes of an operation per message, unless the network prefers more (Fabric::most_data)
  static constexpr uint64_t part = 64 << 10;
  static constexpr size_t most_pieces = 1024;  // per message
  static constexpr uint64_t least_runs = 8;    // of a layout worth telling
  // The kernel takes half a microsecond for each run of another process's memory: the owner copies
  // this many runs faster, for a message, if they are shorter than this.
  static constexpr uint64_t many_runs = 64, short_run = 2 << 10;
  // Bytes to a target after which it is asked where its memory is, and of a run that counts as
  // large: from this size on, a message's way through the target's processor costs more than one
  // operation of the network.
  static constexpr uint64_t large = 4 << 10;
  // If more smaller ones than this are in flight, they travel together as messages.
  static constexpr uint64_t most_small = 4;

  unsigned place_in_row(int rank) const {
    return static_cast<unsigned>(rank) - static_cast<unsigned>(first_near_);
  }
  Target& target(int rank);
  Target* known(int rank) const;  // null: nothing was ever requested of it
  Traffic& traffic(Target* to) {
    if (to->traffic == nullptr) begin_traffic(to);
    return *to->traffic;
  }
  void begin_traffic(Target* to);
  bool crowded(const Target& to) const;  // which has Traffic
  void forget_traffic(Target* to);
  void all_is_reached(Target* to);
  bool is_early(int peer, const Head& request) const;
  bool must_wait(int peer, const Head& request) const;
  Rare& rare() {
    if (rare_ == nullptr) rare_ = std::make_unique<Rare>();
    return *rare_;
  }
  bool take_or_hold(int peer, const Message& message);
  bool take_now(int peer, const Message& message);
  bool is_refused(int peer) const { return rare_ != nullptr && rare_->refused.contains(peer); }
  void take_held(int peer, HeldMessages held);
  uint64_t epoch() const { return fence_.entered() + (rare_ == nullptr ? 0 : rare_->starts); }
  Commons* make_commons(const Memory& memory);
  void list_nears();
  void reach(Near* near) const;
  Near* search_near(int rank);
  bool usable(Near* near, Target* to, bool may_wait);
  static bool faster_by_message(const Transfer& transfer, const Near& near);
  bool execute_near(Transfer* transfer, Near* near);
  static Memory memory_of(const Near& near);
  Status execute_at(const Transfer& transfer, Near* near, bool* refused);
  LockQueue queue_of(Commons* commons) const;
  size_t own_place() const { return node_ != nullptr ? node_->own_place() : 0; }
  bool overtakes(int rank, LockType type) const;
  void queue_up(Near* near, LockType type);
  void defer(Transfer* transfer, Near* near);
  Mark defer(Near* near, bool unlock);
  void do_deferred(Near* near);
  void refuse_deferred(Near* near);
  static void end_deferred(const Deferred& deferred, Status status);
  std::vector<Deferred> take_deferred(int rank);
  Fence::Send send_token();
  void give_back_lock(Near* near);
  void free_lock(Near* near);
  bool messages_met() const;
  void break_off(int gone);
  void tell_broken();
  void take_ahead();
  void say_over();
  void start_far(Target* to);
  void take_lock(Target* to);
  bool has_lock(const Target& to) const;
  bool goes_direct(const Transfer& transfer, Target* to);
  static bool lies_within(const Transfer& transfer, const Direct& direct);
  bool transfer_directly(Transfer* transfer, Direct* to);
  void locate(Target* to);
  uint64_t next_bytes(const Transfer& transfer, uint64_t grain) const;
  bool asks_reply(const Transfer& transfer, Target* to, uint64_t bytes) const;
  void issue_part(Transfer* transfer, Target* to);
  void use_layout(Transfer* transfer, Traffic* traffic);
  void tell_layout(const Transfer& transfer, Traffic* traffic);
  std::vector<Piece> next_pieces(Transfer* transfer, uint64_t most, size_t runs, uint64_t* bytes,
                                 uint64_t grain = 1) const;
  uint64_t expect_reply(int rank, Traffic* traffic, Pending pending);
  void ask(int rank, Traffic* traffic, Kind kind);
  Head head(Kind kind) const { return Head{.kind = kind, .window = id_}; }

  Engine* engine_;
  uint64_t id_;
  Members members_;
  Node* node_;
  // Of a window without a node, whose only near target is this rank.
  struct Alone {
    Commons commons;
    Commons::OfRank own;
    Near near;
  };
  std::unique_ptr<Alone> alone_;
  int rank_;
  uint32_t transfers_ = 0;            // done by the network, in flight
  mutable Target* recent_ = nullptr;  // the last one looked up
  Commons* commons_;
  Exposure exposure_;
  Fence fence_;
  NearFence near_fence_;
  Near* nears_ = nullptr;  // in ascending order of ranks
  uint32_t near_count_ = 0;
  uint32_t nears_in_row_ = 0;  // all, if no other ranks lie between them; else 0
  int first_near_ = 0;
  int gone_ = 0;  // if broken: the first member that is gone
  bool all_near_ = false;
  bool all_locked_ = false;
  bool told_broken_ = false;
  std::atomic<bool> broken_{false};
  uint32_t far_locks_ = 0;  // held, or requested by a message
  RankMap<Target> targets_;
  // No message to a target without Traffic has a higher number, so marks of the past stay reached.
  uint64_t highest_number_ = 0;
  std::unique_ptr<Rare> rare_;
};

}  // namespace nearcache::rma
