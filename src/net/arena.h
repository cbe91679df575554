// Memory that the ranks of one node share: a file without a name (memfd), which all of them map.
//
// One rank makes it; the others open it by /proc/<process>/fd, where the kernel asks whether they
// may look into that process' memory anyway. A number that its maker has drawn, and that comes by a
// way that is trusted, tells that it is the right file. Processes that know each other by other
// numbers (containers) share none, as these are written into it. Its size is sealed, so that nobody
// can take away memory under another. What is in it refers to places by their offset: each rank
// maps it where it has room, and no address need be agreed on.
//
// Memory is there when it is touched first: a large arena costs address space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace nearcache::net {

class Arena {
 public:
  // How others find it.
  struct Name {
    int64_t process = 0;
    uint64_t processes = 0;  // the namespace in which that is its number
    int64_t descriptor = -1;
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
