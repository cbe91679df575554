// SPDX-License-Identifier: BSD-3-Clause

// A network of many ranks in one process and one thread, for tests. It draws at random which batch
// arrives next (in order for each pair of ranks) and counts everything that is sent. Some batches
// with a body are delivered apart from it (Receiver::received_apart). On request it also reads and
// writes memory (direct_memory.h): at any time, in any order, and reports completion later.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "net/detour.h"
#include "net/fabric.h"

namespace nearcache::net {

class StubNetwork {
 public:
  StubNetwork(int ranks, uint64_t seed);
  void reach_memory() { reaches_memory_ = true; }

  Fabric& fabric(int rank) { return *fabrics_[static_cast<size_t>(rank)]; }

  // Draws a rank whose next poll will take something: a batch sent to it, or a transfer that it
  // began. Returns -1 if nothing is in flight.
  int draw();

  uint64_t batches() const { return batches_; }  // sent since the start
  uint64_t bytes() const { return bytes_; }
  uint64_t transfers() const { return transfers_; }  // reads and writes since the start
  // Ends a rank: the others are told, and nothing from it or to it arrives any more.
  void kill(int rank);
  // Only these are told, as if the others had no connection to it.
  void kill(int rank, std::span<const int> told);

 private:
  using Batch = std::vector<std::byte>;
  struct Pair {
    int from, to;
    auto operator<=>(const Pair&) const = default;
  };

  // By the first rank of a pair, of memory of the second.
  struct Transfer {
    bool write, executed;
    uint64_t address, token;
    std::vector<std::byte> data;
  };

  class End final : public Fabric, private DirectMemory {
   public:
    End(StubNetwork* network, int rank) : network_(network), rank_(rank) {}
    int rank() const override { return rank_; }
    int ranks() const override { return static_cast<int>(network_->fabrics_.size()); }
    size_t largest_batch() const override { return size_t{1} << 20; }
    bool poll(Receiver& receiver) override { return network_->poll(rank_, receiver); }
    int wait_descriptor() const override { return -1; }
    void ring() override {}
    bool sends_unsure(int) const override { return true; }
    size_t most_data(int) const override { return 2 * Detour::bytes; }
    void send_unsure(int to, std::span<const std::byte> batch, std::span<const std::byte> data,
                     Ending ending) override;
    DirectMemory* direct_memory() override { return network_->reaches_memory_ ? this : nullptr; }

   private:
    std::unique_ptr<Exposed> expose(std::byte* base, uint64_t size) override {
      return network_->expose(base, size);
    }
    bool pins() const override { return false; }
    bool reaches(int peer) const override { return !network_->dead_[static_cast<size_t>(peer)]; }
    bool has_room(int peer) const override { return network_->has_room({rank_, peer}); }
    void begin_read(int from, Key key, uint64_t offset, size_t size, uint64_t token) override {
      network_->begin({rank_, from}, key, offset, std::vector<std::byte>(size), token, false);
    }
    void begin_write(int to, Key key, uint64_t offset, std::span<const std::byte> data,
                     uint64_t token) override {
      network_->begin({rank_, to}, key, offset, {data.begin(), data.end()}, token, true);
    }
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
  std::unique_ptr<DirectMemory::Exposed> expose(std::byte* base, uint64_t size);
  bool has_room(Pair pair) const;
  void begin(Pair pair, DirectMemory::Key key, uint64_t offset, std::vector<std::byte> data,
             uint64_t token, bool write);
  bool end_one(int rank, Receiver& receiver);
  static void execute(Transfer* transfer);
  size_t below(size_t bound) { return random_() % bound; }

  std::mt19937_64 random_;
  Detour detour_;  // for memory that may be unmapped
  std::vector<std::unique_ptr<End>> fabrics_;
  std::map<Pair, std::deque<Batch>> under_way_;
  std::vector<Pair> waiting_;  // pairs with batches in flight
  Pair drawn_{-1, -1};
  bool reaches_memory_ = false;
  std::map<Pair, std::deque<Transfer>> memory_;  // transfers in flight; no queue is empty
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> exposed_;  // base and end, by key
  uint64_t last_key_ = 0;
  int drawn_end_ = -1;  // the rank whose transfer was drawn
  std::vector<bool> dead_;
  std::vector<std::vector<int>> to_tell_;  // lost peers to report, by rank
  uint64_t batches_ = 0, bytes_ = 0, transfers_ = 0;
};

}  // namespace nearcache::net
