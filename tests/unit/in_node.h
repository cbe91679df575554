// Fabrics of ranks that share memory, all in one process.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/arena.h"
#include "net/node_fabric.h"

namespace nearcache::net {

struct InNode {
  std::shared_ptr<Arena> arena;
  std::vector<std::unique_ptr<NodeFabric>> fabrics;  // by rank

  InNode() = default;
  // The first `count` ranks of a job of `ranks`; `others` connect them to the remaining ranks.
  explicit InNode(size_t count, int ranks, const std::vector<Fabric*>& others = {}) {
    std::string wrong;
    arena = Arena::make(64 << 20, &wrong);
    std::vector<Bell> bells;
    for (size_t rank = 0; rank < count; ++rank) bells.push_back(Bell::make(&wrong));
    std::vector<std::vector<NodeFabric::Place>> all(count);
    for (size_t own = 0; own < count; ++own) {
      for (size_t rank = 0; rank < count; ++rank) {
        Bell bell = rank == own ? Bell() : Bell::open(bells[rank].name(), &wrong);
        all[own].push_back({static_cast<int>(rank), inbox(rank, count), std::move(bell)});
      }
    }
    for (size_t own = 0; own < count; ++own) {
      all[own][own].bell = std::move(bells[own]);
      fabrics.push_back(NodeFabric::make(std::move(all[own]), own, ranks,
                                         others.empty() ? nullptr : others[own], &wrong));
    }
    EXPECT_EQ(wrong, "");
  }
  Inbox* inbox(size_t rank, size_t count) const {
    const uint64_t each = (Inbox::bytes(count) + 4095) / 4096 * 4096;
    return reinterpret_cast<Inbox*>(arena->at(Arena::reserved + each * rank));
  }
};

}  // namespace nearcache::net
