// SPDX-License-Identifier: BSD-3-Clause

// All windows of a rank on one fabric: passes what arrives to the window it is for, and sends what
// the windows have to say.
//
// It has no lock and no thread: Agent (agent.h) provides both. Nothing moves except in poll().
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "net/detour.h"
#include "net/fabric.h"
#include "rma/outbox.h"
#include "rma/pending.h"
#include "rma/window.h"

namespace nearcache::rma {

class Engine final : public net::Receiver {
 public:
  explicit Engine(net::Fabric* fabric);

  // See Fabric.
  bool use_tables(net::DescriptorTables* tables, std::vector<int>* kept) {
    if (!fabric_->use_tables(tables, kept)) return false;
    if (tables != nullptr) kept->push_back(detour_.prepare());
    return true;
  }

  int rank() const { return fabric_->rank(); }
  uint32_t process() const { return process_; }
  net::Fabric& fabric() { return *fabric_; }
  Outbox& outbox() { return outbox_; }
  PendingTable& pending() { return pending_; }
  net::Detour& detour() { return detour_; }
  SpareTraffic& spare_traffic() { return spare_traffic_; }
  // Shared by the windows, one of which uses them at a time.
  CheckedCopies& copies() { return copies_; }
  std::vector<std::byte>& fetched() { return fetched_; }
  net::DirectMemory* direct_memory() const { return direct_; }
  // How often the network has read and written other ranks' memory for this rank without involving
  // them.
  struct Transfers {
    uint64_t reads = 0, writes = 0;
  };
  Transfers& transfers() { return transfers_; }

  // The ranks agree on a window's id and then open the window, some earlier than others. Requests
  // that arrive here between begin_opening() and end_opening(), for a window that is not open yet,
  // are kept until it is. A window is closed when no member uses it any more. An id is never used
  // for a second window of the job.
  void begin_opening() { ++opening_; }
  void end_opening();
  // If `node` is not null, all members on that node must pass theirs as well.
  Window* open(uint64_t id, Members members, Memory memory, Node* node = nullptr);
  void close(Window* window);
  // Ends what waits for replies to the window: data that is still to come is written nowhere. For
  // a call that returns, because a member is gone, while others have not answered yet.
  void give_up(Window* window, Status status);

  // Receives, executes, and sends what is held. Returns true if anything arrived.
  bool poll();
  bool holds() const { return outbox_.holds(); }  // any thread
  // Sends held messages.
  void push() { outbox_.push_all(); }
  // The window waits for a lock by shared words: poll() checks whether its turn has come.
  void expect_turns(Window* window) {
    if (std::ranges::find(queueing_, window) == queueing_.end()) queueing_.push_back(window);
  }
  bool expects_turns() const { return !queueing_.empty(); }
  // This rank has sent something to itself that is not executed yet.
  bool has_own() const { return outbox_.has_own(); }
  // Executes what this rank has sent to itself, without polling the fabric. Returns true if there
  // was anything.
  bool run_own();

  bool is_lost(int peer) const { return lost_.contains(peer); }
  // of the first lost rank, be it lost to others only; "" if there is none
  const std::string& why_lost() const { return why_lost_; }
  // `teller` says that it has lost a member of a window that it has in common with this rank. It
  // is not believed further than that: this rank may still reach `peer`.
  void told_of_loss(int peer, int teller);

  // The reply with this token will be large, and may be received in place.
  void expect_body(int peer, uint64_t token);

  void received(int from, std::span<const std::byte> batch) override;
  net::Place body(int from, std::span<const std::byte> bytes, size_t batch) override;
  net::Place expected_body(int from) override;
  void received_apart(int from, std::span<const std::byte> bytes, std::span<const std::byte> end,
                      bool in_place) override;
  void lost(int peer, const std::string& why) override;
  void transferred(int peer, uint64_t token, std::span<const std::byte> data) override;
  // The process of a rank on this node has ended.
  void ended(int peer);

 private:
  bool take_turns();
  bool take(int from, const Message& message);
  bool take_for(Window* window, const Message& message, int from);
  void settle();
  bool keep_early(int from, const Message& message);
  void take_early(Window* window);
  bool take_data(int from, const Message& message);
  bool take_data_apart(int from, const Head& head, std::span<const std::byte> end, bool in_place);
  void take_put_apart(int from, const Head& head, bool in_place);
  bool take_location(int from, const Message& message);
  Window* find(uint64_t id);
  static void finish(const Pending& pending, Status status);

  net::Fabric* fabric_;
  net::DirectMemory* direct_;
  Transfers transfers_;
  uint32_t process_;
  Outbox outbox_;
  PendingTable pending_;
  net::Detour detour_;
  SpareTraffic spare_traffic_;
  CheckedCopies copies_;
  std::vector<std::byte> fetched_;
  // by peer: tokens of large replies, in the order in which they were requested
  std::unordered_map<int, std::deque<uint64_t>> expected_;
  std::vector<Window*> queueing_;
  std::unordered_map<uint64_t, Window> windows_;
  Window* unsettled_ = nullptr;  // the window that took the last request
  int opening_ = 0;
  std::unordered_map<uint64_t, std::unordered_map<int, BatchWriter>> early_;  // by window and rank
  std::unordered_map<int, size_t> early_bytes_;                               // bytes by rank
  std::unordered_set<int> lost_;
  std::string why_lost_;
};

}  // namespace nearcache::rma
