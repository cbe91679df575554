// A network of many ranks in one process and one thread, for tests: which batch arrives next is
// drawn at random, in order for each pair, and all that is sent is counted. Of batches with a body,
// some come with it in its place.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "net/detour.h"
#include "net/fabric.h"

namespace nearcache::net {

class StubNetwork {
 public:
  StubNetwork(int ranks, uint64_t seed);

  Fabric& fabric(int rank) { return *fabrics_[static_cast<size_t>(rank)]; }

  // A rank that a batch has reached, which its next poll will take; -1 if nothing is under way.
  int draw();

  uint64_t batches() const { return batches_; }  // sent since the start
  uint64_t bytes() const { return bytes_; }
  // The rank has ended: the others are told, and nothing from or to it arrives any more.
  void kill(int rank);

 private:
  using Batch = std::vector<std::byte>;
  struct Pair {
    int from, to;
    auto operator<=>(const Pair&) const = default;
  };

  class End final : public Fabric {
   public:
    End(StubNetwork* network, int rank) : network_(network), rank_(rank) {}
    int rank() const override { return rank_; }
    int ranks() const override { return static_cast<int>(network_->fabrics_.size()); }
    size_t largest_batch() const override { return size_t{1} << 20; }
    bool poll(Receiver& receiver) override { return network_->poll(rank_, receiver); }
    int wait_descriptor() const override { return -1; }
    void ring() override {}
    bool sends_unsure() const override { return true; }
    void send_unsure(int to, std::span<const std::byte> batch, std::span<const std::byte> data,
                     Ending ending) override;

   private:
    void send_both(int to, std::span<const std::byte> batch,
                   std::span<const std::byte> end) override {
      network_->send({rank_, to}, batch, end);
    }

    StubNetwork* network_;
    int rank_;
  };

  void send(Pair pair, std::span<const std::byte> batch, std::span<const std::byte> end);
  bool poll(int rank, Receiver& receiver);
  bool bring_apart(int from, std::span<const std::byte> batch, Receiver& receiver);
  size_t below(size_t bound) { return random_() % bound; }

  std::mt19937_64 random_;
  Detour detour_;  // to memory that may not be there
  std::vector<std::unique_ptr<End>> fabrics_;
  std::map<Pair, std::deque<Batch>> under_way_;
  std::vector<Pair> waiting_;  // the pairs with something under way
  Pair drawn_{-1, -1};
  std::vector<bool> dead_;
  std::vector<std::vector<int>> to_tell_;  // by rank: who was lost
  uint64_t batches_ = 0, bytes_ = 0;
};

}  // namespace nearcache::net
