// SPDX-License-Identifier: BSD-3-Clause

// Memory shared by the ranks of one node: an anonymous file (memfd) that all of them map.
//
// One rank creates it; the others open it (process_memory.h). A random number, drawn by the creator
// and sent over a trusted channel, proves that it is the right file. Processes that see different
// pids for each other (containers) do not share an arena, because pids are stored in it. The size
// is sealed, so that nobody can take memory away from the others. Locations are stored as offsets:
// each rank maps the arena wherever it has room, and no address need be agreed on.
//
// Memory is committed when first touched: a large arena costs only address space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "net/process_memory.h"

namespace nearcache::net {

class Arena {
 public:
  // How other processes find it.
  struct Name : ProcessFile {
    uint64_t size = 0;  // bytes
    uint64_t number = 0;
  };

  // Creates or opens an arena. Returns null, and the reason in `wrong`, if that is impossible.
  static std::shared_ptr<Arena> make(uint64_t size, std::string* wrong);
  static std::shared_ptr<Arena> open(const Name& name, std::string* wrong);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  const Name& name() const { return name_; }
  // Called once all ranks have opened the arena: from then on nobody else can.
  void close_door();

  std::byte* at(uint64_t offset) const { return base_ + offset; }
  bool contains(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    return at >= base_ && at < base_ + name_.size;
  }
  uint64_t offset(const void* address) const {
    return static_cast<uint64_t>(static_cast<const std::byte*>(address) - base_);
  }

  // The arena reserves its first bytes for itself.
  static constexpr uint64_t reserved = 4096;

 private:
  Arena() = default;
  std::string map();

  Name name_;
  int descriptor_ = -1;
  std::byte* base_ = nullptr;
};

// The address space that the ranks of a node may need for all their windows together, in bytes.
uint64_t arena_size(int ranks);

}  // namespace nearcache::net
