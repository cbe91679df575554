// Memory that the ranks of one node share: an anonymous file (memfd) that all of them map.
//
// One rank creates it; the others open it (process_memory.h). A random number, drawn by its creator
// and sent over a trusted channel, proves that it is the right file. Processes that see different
// pids for each other (containers) share none, because pids are stored in it. Its size is sealed,
// so that nobody can take memory away from another. Places in it are offsets: each rank maps it
// where it has room, and no address need be agreed on.
//
// Memory is committed when it is first touched: a large arena costs address space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "net/process_memory.h"

namespace nearcache::net {

class Arena {
 public:
  // How others find it.
  struct Name : ProcessFile {
    uint64_t size = 0;  // bytes
    uint64_t number = 0;
  };

  // Null, and what is wrong, where that is impossible.
  static std::shared_ptr<Arena> make(uint64_t size, std::string* wrong);
  static std::shared_ptr<Arena> open(const Name& name, std::string* wrong);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  const Name& name() const { return name_; }
  // All have opened it; from now on nobody can.
  void close_door();

  std::byte* at(uint64_t offset) const { return base_ + offset; }
  bool contains(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    return at >= base_ && at < base_ + name_.size;
  }
  uint64_t offset(const void* address) const {
    return static_cast<uint64_t>(static_cast<const std::byte*>(address) - base_);
  }

  // The first bytes are the arena's own.
  static constexpr uint64_t reserved = 4096;

 private:
  Arena() = default;
  std::string map();

  Name name_;
  int descriptor_ = -1;
  std::byte* base_ = nullptr;
};

// So much address space as the ranks of a node may need for their windows together.
uint64_t arena_size(int ranks);

}  // namespace nearcache::net
