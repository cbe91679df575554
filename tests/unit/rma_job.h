// A job of ranks in one process, each with an engine and one window, on a network that delays and
// reorders what it carries. Consecutive ranks may belong to one node and share its memory, or only
// its words. In the latter case the memory of windows is accessed through the kernel, like that of
// another process, or not at all. If requested, the network reads and writes memory without
// involving its owner.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "net/stub_network.h"
#include "rma/engine.h"

namespace nearcache::rma::test {

enum class Memories { arena, process, refused };
enum class Network { messages, direct };

struct Job {
  static constexpr uint64_t window_id = 42;

  net::StubNetwork network;
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<std::unique_ptr<Node>> nodes;  // of each rank, as that rank knows it
  std::vector<std::vector<uint64_t>> own;    // memory that is not shared
  std::vector<std::span<uint64_t>> memory;   // of each rank's window, in words (its unit)
  std::vector<Window*> windows;

  Job(int ranks, uint64_t seed, size_t words = 64, int on_node = 1,
      Memories memories = Memories::arena, Network does = Network::messages)
      : network(ranks, seed), own(static_cast<size_t>(ranks)) {
    if (does == Network::direct) network.reach_memory();
    std::shared_ptr<net::Arena> arena;
    for (int rank = 0; rank < ranks; ++rank) {
      engines.push_back(std::make_unique<Engine>(&network.fabric(rank)));
      const int first = rank / on_node * on_node, count = std::min(on_node, ranks - first);
      std::vector<int> sharing(static_cast<size_t>(count));
      std::iota(sharing.begin(), sharing.end(), first);
      std::string wrong;
      if (rank == first) arena = net::Arena::make(uint64_t{1} << 30, &wrong);
      EXPECT_EQ(wrong, "");
      nodes.push_back(count > 1 ? std::make_unique<Node>(arena, sharing, rank) : nullptr);
      const bool in_arena = count > 1 && memories == Memories::arena;
      if (count > 1)
        nodes.back()->know(
            std::vector(sharing.size(), Node::Process{getpid(), memories == Memories::process}));
      own[static_cast<size_t>(rank)].resize(in_arena ? 0 : words);
      memory.emplace_back(in_arena ? reinterpret_cast<uint64_t*>(nodes.back()->take(words * 8))
                                   : own[static_cast<size_t>(rank)].data(),
                          words);
      windows.push_back(engines.back()->open(window_id, Members(ranks),
                                             Memory::fixed(memory.back().data(), words * 8, 8),
                                             nodes.back().get()));
    }
    for (Window* each : windows) EXPECT_TRUE(each->find_nears());
  }
  ~Job() { engines.clear(); }  // before the nodes
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  int ranks() const { return static_cast<int>(engines.size()); }
  Window& window(int rank) { return *windows[static_cast<size_t>(rank)]; }
  uint64_t& word(int rank, size_t index) { return memory[static_cast<size_t>(rank)][index]; }

  // Sends everything that ranks hold, and delivers one batch somewhere; returns false if none is in
  // flight.
  bool step() {
    for (const auto& engine : engines) engine->push();
    const int rank = network.draw();
    return rank >= 0 && engines[static_cast<size_t>(rank)]->poll();
  }
  // Lets the network proceed until `done` returns true; returns false if nothing moves any more.
  template <class Done>
  bool run(Done done) {
    for (;;) {
      if (done()) return true;
      if (step()) continue;
      bool any = false;  // whether a rank sent to itself, or holds something
      for (const auto& engine : engines) any = engine->poll() || any;
      if (!any && network.draw() < 0) return done();
    }
  }
  bool flush(int origin, int target) {
    const Mark mark = window(origin).flush(target);
    return run([&] { return window(origin).reached(target, mark); });
  }
  bool unlock(int origin, int target) {
    if (!run([&] { return window(origin).transferred(target); })) return false;
    const Mark mark = window(origin).unlock(target);
    return run([&] { return window(origin).reached(target, mark); });
  }
  // With shared words, nothing tells how much is in flight; MPI_Win_fence knows.
  bool flush_for_words() {
    if (!windows.front()->all_near()) return true;
    for (Window* each : windows) each->flush_all();
    return run([&] { return std::ranges::all_of(windows, &Window::all_reached); });
  }
  bool all_transferred() {
    return run([&] {
      return std::ranges::all_of(windows, [](Window* each) { return each->transferred(); });
    });
  }
  bool fence() {
    if (!flush_for_words() || !all_transferred()) return false;
    for (Window* each : windows) each->fence_enter();
    // With shared words, each look at a window may let other ranks proceed.
    const auto met = [&] {
      return std::ranges::count_if(windows, [](Window* each) {
               return each->fence_met() && each->all_landed();
             }) == ranks();
    };
    constexpr int most_rounds = 16;  // of a fence of 65,536 ranks
    for (int rounds = 0; !run(met); ++rounds) {
      if (rounds == most_rounds) return false;
    }
    return std::ranges::all_of(windows, [](Window* each) {
      return std::ranges::all_of(each->nears(), [&](const Near& near) {
        return Window::fence_over(near, each->fence_to_be_over());
      });
    });
  }

  bool issue(int origin, Transfer transfer) {
    while (!window(origin).issue(&transfer)) {
      if (!run([&] { return !window(origin).crowded(transfer.target); })) return false;
    }
    return true;
  }
  template <class T>
  bool put(int origin, int target, int64_t at, const T& value) {
    return window(origin).put_few(target, at, &value, sizeof value) ||
           issue(origin, {.kind = Kind::put,
                          .target = target,
                          .displacement = at,
                          .length = sizeof value,
                          .data = bytes(value)});
  }
  template <class T>
  bool get(int origin, int target, int64_t at, T* value) {
    return issue(origin, {.kind = Kind::get,
                          .target = target,
                          .displacement = at,
                          .length = sizeof *value,
                          .result = reinterpret_cast<std::byte*>(value)});
  }
  bool add(int origin, int target, int64_t at, const uint64_t& value,
           Operation operation = Operation::sum) {
    return issue(origin, {.kind = Kind::accumulate,
                          .target = target,
                          .displacement = at,
                          .length = 8,
                          .data = bytes(value),
                          .element = Element::uint64,
                          .operation = operation});
  }
  bool fetch_add(int origin, int target, int64_t at, const uint64_t& value, uint64_t* old) {
    return issue(origin, {.kind = Kind::fetch,
                          .target = target,
                          .displacement = at,
                          .length = 8,
                          .data = bytes(value),
                          .result = reinterpret_cast<std::byte*>(old),
                          .element = Element::uint64,
                          .operation = Operation::sum});
  }

  template <class T>
  static const std::byte* bytes(const T& value) {
    return reinterpret_cast<const std::byte*>(&value);
  }
};

// Blocks of `words` words each, one every `stride` words.
struct Strided {
  std::vector<Piece> blocks;
  ElementLayout layout;
  Strided(uint64_t number, uint64_t count, uint64_t words, int64_t stride) {
    for (uint64_t i = 0; i < count; ++i)
      blocks.push_back({static_cast<int64_t>(i) * stride * 8, words * 8});
    layout = {number,
              count * words * 8,
              static_cast<int64_t>(count) * stride * 8,
              count,
              this,
              [](const void* of, uint64_t which) {
                return static_cast<const Strided*>(of)->blocks[which];
              }};
  }
};

inline Transfer by_layout(Kind kind, const Strided& type, uint64_t elements,
                          std::vector<uint64_t>* words, Operation operation = Operation::replace) {
  Transfer transfer{.kind = kind,
                    .target = 1,
                    .length = elements * type.layout.size,
                    .layout = type.layout,
                    .element = Element::uint64,
                    .operation = operation};
  auto* memory = reinterpret_cast<std::byte*>(words->data());
  if (kind == Kind::get) {
    transfer.result = memory;
  } else {
    transfer.data = memory;
  }
  return transfer;
}

}  // namespace nearcache::rma::test
