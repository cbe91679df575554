// SPDX-License-Identifier: BSD-3-Clause

// The fabric between ranks of one node: batches go through shared memory (inbox.h). Batches for
// ranks of other nodes are passed on to another fabric, if there is one.
//
// Neither end makes a system call as long as the receiver polls its inbox. A receiver that is about
// to sleep on its descriptor says so in its inbox, then looks at it once more; a sender first
// writes, then checks what the receiver says. So at least one of them sees the other, and the
// sender rings if necessary.
//
// A rank that polled soon after it was last armed is likely to do so again. It then says that it
// dozes rather than sleeps: a sender may wait for 8 us before it rings. If the receiver has taken
// everything by then, no system call was made and no agent has woken up. A sender that is about to
// leave or sleep rings at once.
//
// A sender that finds no room in the ring queues the rest and says that it wants room; the receiver
// then rings it as if a batch had arrived.
//
// This class does not notice the end of a process: its user calls forget(). What other processes
// write is checked like input from a network: lengths, and how far they claim to have read.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "net/bell.h"
#include "net/byte_queue.h"
#include "net/fabric.h"
#include "net/inbox.h"

namespace nearcache::net {

class NodeFabric final : public Fabric {
 public:
  // A rank of the node. All ranks list them in the same order.
  struct Place {
    int rank;
    Inbox* inbox;
    Bell bell;
  };
  // `others` outlives this fabric; null if all ranks are on this node.
  static std::unique_ptr<NodeFabric> make(std::vector<Place> places, size_t own, int ranks,
                                          Fabric* others, std::string* wrong);
  ~NodeFabric() override;

  int rank() const override { return places_[own_].at.rank; }
  int ranks() const override { return ranks_; }
  size_t largest_batch() const override { return most_bytes; }
  bool receives() const override { return others_ != nullptr && others_->receives(); }
  size_t most_data(int to) const override {
    return others_ != nullptr && place_of(to) == nullptr ? others_->most_data(to)
                                                         : Fabric::most_data(to);
  }
  DirectMemory* direct_memory() override {
    return others_ != nullptr ? others_->direct_memory() : nullptr;
  }
  bool sends_unsure(int to) const override {
    return others_ != nullptr && place_of(to) == nullptr && others_->sends_unsure(to);
  }
  void send_unsure(int to, std::span<const std::byte> batch, std::span<const std::byte> data,
                   Ending ending) override {
    others_->send_unsure(to, batch, data, ending);
  }
  bool poll(Receiver& receiver) override;
  bool arm() override { return arm_as(Inbox::Watch::sleeps); }
  bool arm_briefly() override;
  void disarm() override;
  bool rests_unless_armed() const override { return others_ == nullptr; }
  int wait_descriptor() const override { return descriptor_; }
  void ring() override;
  void use_set(int epoll) override {
    if (others_ != nullptr) others_->use_set(epoll);
  }
  bool watch_separate(bool wanted) override {
    return others_ != nullptr && others_->watch_separate(wanted);
  }
  void watch_together() override {
    if (others_ != nullptr) others_->watch_together();
  }
  int separate_descriptor() const override {
    return others_ != nullptr ? others_->separate_descriptor() : -1;
  }
  void woken(int descriptor) override {
    if (others_ != nullptr) others_->woken(descriptor);
  }
  bool use_tables(DescriptorTables* tables, std::vector<int>* kept) override;
  void settle() override {
    if (others_ != nullptr) others_->settle();
  }
  void watch_peer(int rank) override {
    if (others_ != nullptr && place_of(rank) == nullptr) others_->watch_peer(rank);
  }
  void forget(int rank) override;

 private:
  static constexpr size_t most_bytes = size_t{1} << 20;

  struct Peer {
    Place at;
    bool lost = false;
    // For batches to this peer.
    SharedRing* to = nullptr;        // null before the first batch
    uint64_t written = 0, read = 0;  // lines
    ByteQueue queue;                 // frames that wait for room, each after its length
    uint64_t left = 0;  // bytes left of the first frame, if part of it was sent; else 0
    bool blocked = false, unheard = false;
    uint64_t unheard_since = 0;  // ticks
    // For batches from this peer.
    SharedRing* from = nullptr;  // null: it has never written
    uint64_t taken = 0;          // lines
    ByteQueue come;              // the part of a batch that has arrived
  };

  NodeFabric(std::vector<Place> places, size_t own, int ranks, Fabric* others);

  void send_both(int to, std::span<const std::byte> batch, std::span<const std::byte> end) override;
  Peer* place_of(int rank) const;
  Inbox& inbox() { return *places_[own_].at.inbox; }
  void begin(Peer* peer);
  uint64_t room(Peer* peer);
  uint64_t give(Peer* peer, std::span<const std::byte> first, std::span<const std::byte> second);
  void block(Peer* peer);
  void give_waiting(Peer* peer);
  void told(Peer* peer);
  void wake(Peer* peer);
  void wake_unheard(uint64_t patience);
  void find_writers();
  bool take(Peer* peer, Receiver& receiver);
  bool take_record(Peer* peer, uint64_t word);
  bool has_room_now();
  bool something_is_there();
  bool arm_as(Inbox::Watch watch);
  void hear();
  void lose(Peer* peer, const char* why);
  void say_goodbye(Peer* peer);

  mutable std::vector<Peer> places_;
  std::vector<int> by_rank_;  // index into places_; -1: on another node
  size_t own_;
  int ranks_;
  Fabric* others_;
  int descriptor_ = -1;  // of the own bell, or of an epoll set of it and the others' descriptor
  uint32_t writers_ = 0;
  std::vector<Peer*> from_;     // peers that have written
  std::vector<Peer*> blocked_;  // peers with frames that wait for room
  std::vector<Peer*> unheard_;  // peers that were sent something while they dozed
  bool armed_ = false;
  uint64_t armed_at_ = 0;  // ticks
  uint64_t patience_;      // ticks
  bool soon_ = true;       // the last poll came soon after the fabric had been armed
  uint64_t due_ = 0;       // rings of the own bell that are on their way or not consumed yet
  std::atomic<bool> rung_{false};                  // ring() was called since the last poll
  std::vector<std::pair<int, const char*>> lost_;  // reported by the next poll
};

}  // namespace nearcache::net
