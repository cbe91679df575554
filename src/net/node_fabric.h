// The fabric between ranks of one node: batches go through memory that they share (inbox.h). With
// others it hands them to another fabric, if there are any.
//
// Nobody makes a call of the system as long as the receiver looks at its inbox. One that is about
// to sleep on the descriptor says so first, and looks once more; who sends writes first, and then
// looks at what the receiver says. So one of them sees the other, and the sender rings.
//
// A thread that was back soon the last times is likely to be back soon again. It says that it
// dozes, which is to sleep, but who sends may wait for 8 us before it rings: if the receiver has
// taken all by then, neither has cost the other a call of the system, and no agent has woken up.
// Who sends rings at once when it is about to leave, or to sleep, itself.
//
// A sender for which there is no room keeps what it has, and says that it wants room; it is rung
// then as if something had come.
//
// The end of a process is not noticed here: whoever knows of it calls `forget`. What others write
// is checked as if it came from a network: lengths, and how far they say they have read.
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
  // A rank of the node. Each knows all, in the same order.
  struct Place {
    int rank;
    Inbox* inbox;
    Bell bell;
  };
  // `others`: null where all ranks are here; it outlives this fabric.
  static std::unique_ptr<NodeFabric> make(std::vector<Place> places, size_t own, int ranks,
                                          Fabric* others, std::string* wrong);
  ~NodeFabric() override;

  int rank() const override { return places_[own_].at.rank; }
  int ranks() const override { return ranks_; }
  size_t largest_batch() const override { return most_bytes; }
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
  void forget(int rank) override;

 private:
  static constexpr size_t most_bytes = size_t{1} << 20;

  struct Peer {
    Place at;
    bool lost = false;
    // To it.
    SharedRing* to = nullptr;        // null before the first batch
    uint64_t written = 0, read = 0;  // lines
    ByteQueue queue;                 // frames that wait for room, each with its length
    uint64_t left = 0;               // bytes of the first, of which some have gone; 0: none have
    bool blocked = false, unheard = false;
    uint64_t unheard_since = 0;  // ticks
    // From it.
    SharedRing* from = nullptr;  // null: it has never written
    uint64_t taken = 0;          // lines
    ByteQueue come;              // of a batch
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
  std::vector<int> by_rank_;  // places; -1: of another node
  size_t own_;
  int ranks_;
  Fabric* others_;
  int descriptor_ = -1;  // of the own bell, or of a set of that and the others'
  uint32_t writers_ = 0;
  std::vector<Peer*> from_;     // who has written
  std::vector<Peer*> blocked_;  // for whom something waits
  std::vector<Peer*> unheard_;  // who have got something while they dozed
  bool armed_ = false;
  uint64_t armed_at_ = 0;          // ticks
  uint64_t patience_;              // ticks
  bool soon_ = true;               // the last look came soon after the fabric had been armed
  uint64_t due_ = 0;               // rings of the own bell that will come, or have
  std::atomic<bool> rung_{false};  // by this rank
  std::vector<std::pair<int, const char*>> lost_;  // to be told in the next poll
};

}  // namespace nearcache::net
