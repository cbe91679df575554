// A window as one rank has it: what it has asked of others, and its own memory that others ask for
// (`exposure`).
//
// Nothing here waits. A call that must not return before something has happened says what to wait
// for: a mark, which `reached` and `landed` compare with what has come back, or one of the
// questions below. Messages to a target are numbered; as a target executes those of one origin and
// window in order, a reply tells that all up to its message are executed, so two numbers for each
// target are all that completion needs. Operations are held until a batch is full or somebody asks
// for a mark.
//
// Memory of near targets (near.h) that this rank reaches is written and read at once, if no message
// to them is under way: then there is nothing to wait for. Only a lock that is not free, and what
// comes behind it, goes by messages.
//
// In five files: window.cpp (near targets, what has come back, the end of others),
// window_operations.cpp, window_transfers.cpp (RDMA), window_locks.cpp and window_epochs.cpp.
//
// Targets and origins are ranks of the window. One thread at a time, but for what says otherwise.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "rma/elements.h"
#include "rma/exposure.h"
#include "rma/fence.h"
#include "rma/members.h"
#include "rma/near.h"
#include "rma/near_fence.h"
#include "rma/node.h"
#include "rma/pending.h"

namespace nearcache::rma {

class Engine;

// One operation, as the program asks for it. `pieces` are runs of memory relative to the
// displacement, none of them empty; without, there is one of `length`.
struct Transfer {
  Kind kind;
  int target = 0;
  int64_t displacement = 0;
  uint64_t length = 0;  // bytes of memory at the target
  std::span<const Piece> pieces = {};
  ElementLayout layout = {};  // instead of pieces: `length` bytes of such elements
  // what is sent, packed. Compare-and-swap: the new value, then the compared one
  const std::byte* data = nullptr;
  std::byte* result = nullptr;  // what is fetched, packed
  Element element = Element::bytes;
  Operation operation = Operation::replace;
  uint64_t grain = 0;          // as in Action
  Completion completion = {};  // of an operation that fetches: when the result is there

  // How far `Window::issue` has come.
  uint64_t done = 0;
  size_t piece = 0;
  uint64_t of_piece = 0;
  uint64_t which_element = 0;
  SentLayouts::Sent* sent = nullptr;
  bool direct = false;  // by the network, without the target
};

// How far what was asked of a target must have come: messages and, apart from them, what the
// network does without the target.
struct Mark {
  Mark(uint64_t of_messages = 0, uint64_t of_transfers = 0)
      : messages(of_messages), transfers(of_transfers) {}
  bool operator==(const Mark&) const = default;

  uint64_t messages, transfers;
};

class Window {
 public:
  // `node` as for Engine::open; it outlives the window.
  Window(Engine* engine, uint64_t id, Members members, Memory memory, Node* node = nullptr);
  ~Window();

  uint64_t id() const { return id_; }
  int rank() const { return rank_; }
  const Members& members() const { return members_; }
  Exposure& exposure() { return exposure_; }

  // Near targets. Any thread, once all were found.
  Near* near(int rank) { return nears_in_row_ == 0 ? search_near(rank) : near_in_row(rank); }
  // The same where no other ranks lie between them; else null.
  Near* near_in_row(int rank) { return in_row(rank) ? &nears_[place_in_row(rank)] : nullptr; }
  bool in_row(int rank) const { return place_in_row(rank) < nears_in_row_; }
  // Those that lie so: all, or none.
  std::span<Near> row() { return {nears_.get(), nears_in_row_}; }
  // Which is in the row.
  Near& of_row(int rank) { return nears_[place_in_row(rank)]; }
  std::span<Near> nears() { return {nears_.get(), near_count_}; }
  size_t reached_nears();  // of how many the memory is reached without messages
  Near& own() { return *near(rank_); }
  // All members, and their epochs of active targets need no messages.
  bool all_near() const { return all_near_; }
  // Looks for what the others of the node have published; true if nothing is missing any more.
  bool find_nears();
  // The memory of the target may be used at once in an epoch that is open: this rank has the lock
  // that it wants, and there is no error to tell.
  bool ready(int rank);
  // A put or get of one run, in an epoch that is open, of a target that the kernel reaches. False
  // if it is to be issued: then it may have been done in part. Any thread.
  static bool move_at_once(const Near& near, Kind kind, int64_t displacement, void* here,
                           uint64_t bytes);
  // This rank waits in the queue of a near target's lock, with what it has asked of it meanwhile.
  // When it `has_turn` (told by this window's bell) the next `take_turns` does that, as
  // Engine::poll does. Any thread.
  bool queued(int rank);
  bool has_turn(int rank);
  // True if there was one.
  bool take_turns();
  // A lock that was taken by its word was given back, and somebody waits: gives it to those whose
  // turn it is. True if the target must be told, for a far rank, by `tell_freed`. Any thread.
  bool hand_over(const Near& near);
  void tell_freed(const Near& near);
  // No message was ever sent to a target, and there was no error.
  bool silent() const { return targets_.empty(); }

  // Sends the operation, in parts if it is large. False if the target has so much before it that
  // the rest must wait until it is not `crowded` any more.
  bool issue(Transfer* transfer);
  bool crowded(int rank) const;
  // The same of a put of few bytes in one run, to a target that messages go to already. False, and
  // nothing has happened, if it is to be issued.
  bool put_few(int rank, int64_t displacement, const void* data, uint64_t length);
  // Nothing that the network does without the target, or any, is under way: to be waited for before
  // whatever tells others that it is done, `unlock`, `unlock_all`, `complete`, `fence_enter`.
  bool transferred(int rank) const;
  bool transferred() const { return transfers_ == 0; }

  // Asks that all that was issued to the target be executed. What is held goes when somebody waits,
  // here and below, or at Engine::push. Nothing goes where nothing is outstanding. A lock that
  // waits for an operation is taken: programs exclude others by a lock and a flush.
  Mark flush(int rank);
  // Sends what is held if there is nothing to wait for.
  Mark flush_local(int rank);
  bool reached(int rank, Mark mark) const;
  // Of the same for all targets. What other threads issue meanwhile is not waited for.
  void flush_all();
  bool all_reached() const;

  // The lock goes with the first operation. `no_check`: the program says that it conflicts with
  // none.
  void lock(int rank, LockType type, bool no_check);
  // Asks for it at once.
  Mark lock_now(int rank);
  // When the mark is reached all is executed, and the lock is free.
  Mark unlock(int rank);
  // A shared lock of each target, which goes with the first operation to it.
  void lock_all(bool no_check) { all_locked_ = !no_check; }
  // The same when `all_reached`.
  void unlock_all();

  // If all are near, this and the other calls of active targets concern nothing but words that they
  // share; what is awaited changes while its bell rings. One thread at a time for a window then,
  // but not one for the engine.
  Doorbell& bell() { return commons_->bell; }
  void fence_enter();
  // All have entered, and what they had sent here is executed. What this rank fetches must have
  // `all_landed` besides, and if some are near the fence must be over at these.
  bool fence_met();
  bool all_landed() const;
  // Any thread.
  static bool fence_over(const Near& near, uint64_t fence) {
    return near.commons->fences_over.load(std::memory_order_acquire) >= fence;
  }
  // How many were entered, where that is to be asked; else 0.
  uint64_t fence_to_be_over() const {
    return node_ != nullptr && !all_near_ ? fence_.entered() : 0;
  }

  void post(std::span<const int> origins);
  // All of these have posted; then, once, their posts are used up.
  bool started(std::span<const int> targets);
  void complete(std::span<const int> targets);
  bool completed_by(size_t origins);

  // The first error of operations to the target, or of all, since it was last asked; a member that
  // was lost comes first.
  Status take_error(int rank);
  Status take_error();
  // A member is gone: what waits for all would wait forever. Any thread.
  bool broken() const { return broken_.load(std::memory_order_relaxed); }

  // Of the engine: what has come.
  // False if no rank that follows the protocol sends that.
  bool take(int peer, const Message& message);  // a request
  // Where the data of a put of one run go while they arrive; null if that is to be taken as a
  // whole.
  std::byte* place_of_put(int peer, const Head& head) const;
  // They have come, all of them to where they belong if `in_place`.
  void put_apart(int peer, const Head& head, bool in_place);
  // Of these: before the messages go.
  void settle();
  // Before it is closed: what still waits here gets an answer.
  void refuse_held();
  bool take_token(int peer, const Message& message);
  void answered(const Pending& pending, Status status);
  void failed(int peer, Status status);
  void located(int rank, std::span<const Piece> where);
  void lost(int peer);
  // Its process has ended: locks that it had taken by their words are given back.
  void ended(int peer);

 private:
  // What waits with this rank for a lock: an operation, with what it refers to, or nothing but the
  // end of the wait, and the lock may be given back then.
  struct Deferred {
    Transfer transfer{.kind = Kind::acknowledge};
    std::vector<Piece> pieces;
    std::vector<std::byte> data;
    Mark mark = 0;
    bool unlock = false;
  };

  // Memory of a far target that the network reaches without it (window_transfers.cpp). What it does
  // is numbered apart from messages.
  struct Direct {
    net::DirectMemory::Key key;
    uint64_t size = 0;  // 0: out of reach
    int64_t unit = 1;
    bool crowded = false;      // there was no room for a transfer
    bool asked = false;        // where it is, and that is not answered yet
    uint64_t asked_after = 0;  // so many fences
    uint64_t fences = 0;       // that are over at the target
    uint64_t begun = 0, done = 0;
    uint64_t fetching = 0;  // the last one that fetches
  };

  enum class Lock : uint8_t { none, wanted, held };
  struct Target {
    uint64_t issued = 0;    // messages that were numbered
    uint64_t answered = 0;  // the last one whose reply is here or on its way
    uint64_t fetching = 0;  // the last one that fetches
    uint64_t reached = 0;   // by the last reply
    // What was numbered up to `deferred` waited for a lock and then went by messages: it is reached
    // when the last of these is, which is `deferred_end`.
    uint64_t deferred = 0, deferred_end = 0;
    uint64_t bytes = 0, bytes_reached = 0, bytes_asked = 0;
    uint64_t operations = 0;  // since the last fence
    Lock lock = Lock::none;
    LockType type = LockType::shared;
    Status error = Status::ok;
    bool refused = false;    // the lock, as nobody knows who has it
    uint64_t locked_at = 0;  // messages that were issued before it was asked for
    SentLayouts layouts;
    std::unique_ptr<Direct> direct;  // once it was asked where the memory is
  };

  static constexpr uint64_t most_outstanding = 4 << 20;  // bytes to one target
  // bytes, so that replies come before that is reached
  static constexpr uint64_t ask_after = 1 << 20;
  // bytes of an operation that go in one message
  static constexpr uint64_t part = 64 << 10;
  static constexpr size_t most_pieces = 1024;  // of a message
  static constexpr uint64_t least_runs = 8;    // of a layout that is told
  // The kernel takes half a microsecond for each run of another process's memory: so many that are
  // shorter than this are copied sooner by their owner, for a message.
  static constexpr uint64_t many_runs = 64, short_run = 2 << 10;
  // Bytes to a target after which it is asked where its memory is, and of a run that is large: then
  // a message's way through the target's processor costs more than one operation of the network.
  static constexpr uint64_t large = 4 << 10;
  // Of smaller ones more than these go together as messages.
  static constexpr uint64_t most_small = 4;

  unsigned place_in_row(int rank) const {
    return static_cast<unsigned>(rank) - static_cast<unsigned>(first_near_);
  }
  Target& target(int rank);
  Target* known(int rank) const;  // null: it was never asked for anything
  bool comes_ahead(int peer, const Head& request) const;
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
  void tell_turn(size_t place);
  void queue_up(Near* near, LockType type);
  void defer(Transfer* transfer, Near* near);
  Mark defer(Near* near, bool unlock);
  void do_deferred(Near* near);
  void refuse_deferred(Near* near);
  static void end_deferred(const Deferred& deferred, Status status);
  void give_back_lock(Near* near);
  void free_lock(Near* near);
  bool messages_met() const;
  void take_ahead();
  void say_over();
  void take_lock(int rank, Target* to);
  bool has_lock(const Target& to) const;
  bool goes_direct(const Transfer& transfer, Target* to);
  static bool lies_within(const Transfer& transfer, const Direct& direct);
  bool transfer_directly(Transfer* transfer, Target* to);
  void locate(int rank, Target* to);
  void issue_part(Transfer* transfer, Target* to);
  void use_layout(Transfer* transfer, Target* to);
  void tell_layout(const Transfer& transfer, Target* to);
  std::vector<Piece> next_pieces(Transfer* transfer, uint64_t most, size_t runs, uint64_t* bytes,
                                 uint64_t grain = 1) const;
  uint64_t expect_reply(int rank, Target* to, Pending pending);
  void ask(int rank, Target* to, Kind kind);
  Head head(Kind kind) const { return Head{.kind = kind, .window = id_}; }

  Engine* engine_;
  uint64_t id_;
  Members members_;
  int rank_;
  Node* node_;
  struct PrivateCommons {
    Commons commons;
    Commons::OfRank own;
  };
  std::unique_ptr<PrivateCommons> private_commons_;  // where nobody shares any
  Commons* commons_;
  Exposure exposure_;
  Fence fence_;
  std::unique_ptr<Near[]> nears_;  // in ascending order of ranks
  size_t near_count_ = 0;
  int first_near_ = 0;
  unsigned nears_in_row_ = 0;  // all, where no rank lies between them that is not near; else 0
  bool all_near_ = false;
  NearFence near_fence_;
  uint64_t completed_ = 0;                           // epochs of near origins that were waited for
  mutable std::unordered_map<int, Target> targets_;  // none is ever taken out
  mutable Target* recent_ = nullptr;                 // the last one that was looked for
  mutable int recent_rank_ = -1;
  std::unordered_map<int, std::vector<Deferred>> deferred_;  // by near target
  std::unordered_map<int, uint32_t> posts_;  // of others that were not started, by rank
  // by peer: requests that come after a fence which is not over here
  std::unordered_map<int, BatchWriter> ahead_;
  bool all_locked_ = false;
  uint64_t transfers_ = 0;  // by the network, under way
  std::atomic<bool> broken_{false};
};

}  // namespace nearcache::rma
