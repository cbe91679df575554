// SPDX-License-Identifier: BSD-3-Clause

// A cache such as these programs ship with (the "native" cache of the CLaMPI paper, section IV.B):
// direct-mapped, with fixed-size blocks of remote memory. MPI-free.
//
// A block is an aligned piece of one rank's window, 512 bytes by default: 4 cells and 2 leaves, or
// 16 leaves. They are close in the tree as well, because the nodes of a subtree are stored
// together. Each block maps to exactly one line. Nodes are used in place, without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../common/hash.h"
#include "options.h"

namespace barnes_hut {

class BlockCache {
 public:
  /// Creates as many lines as fit into `memory`, tags included. pre: memory >= block + sizeof(Tag)
  BlockCache(std::uint64_t memory, std::uint64_t block, Mapping mapping)
      : block_(block),
        mapping_(mapping),
        tags_(memory / (block + sizeof(Tag))),
        data_(new std::byte[tags_.size() * block]) {}

  struct Line {
    bool hit;
    std::byte* data;  // the block's bytes; on a miss, where to put them
    std::size_t number;
  };

  /// `window_blocks`: number of blocks in each rank's window.
  Line find(std::int32_t rank, std::uint32_t block, std::uint64_t window_blocks) {
    const std::size_t number = line_of(static_cast<std::uint32_t>(rank), block, window_blocks);
    Tag& tag = tags_[number];
    const bool hit = tag.generation == generation_ && tag.rank == rank && tag.block == block;
    if (!hit) tag.generation = 0;  // its bytes are about to be overwritten
    return {hit, data_.get() + number * block_, number};
  }

  /// Records that a line that missed now contains the block's bytes.
  void keep(const Line& line, std::int32_t rank, std::uint32_t block) {
    tags_[line.number] = {generation_, rank, block};
  }

  void invalidate() { ++generation_; }
  std::uint64_t block_bytes() const { return block_; }

 private:
  struct Tag {
    std::uint64_t generation = 0;  // 0: empty
    std::int32_t rank = -1;
    std::uint32_t block = 0;
  };
  static_assert(sizeof(Tag) == 16);

  std::size_t line_of(std::uint32_t rank, std::uint32_t block, std::uint64_t window_blocks) const {
    if (mapping_ == Mapping::linear) return (rank * window_blocks + block) % tags_.size();
    return (apps::mix64(std::uint64_t{rank} << 32 | block) >> 32) * tags_.size() >> 32;
  }

  std::uint64_t block_;
  Mapping mapping_;
  std::uint64_t generation_ = 1;
  std::vector<Tag> tags_;
  std::unique_ptr<std::byte[]> data_;
};

}  // namespace barnes_hut
