// SPDX-License-Identifier: BSD-3-Clause

// Memory of other ranks that the network reads and writes without involving them (RDMA), for
// fabrics that support it.
//
// Not part of the stream of batches: reads and writes are unordered, both among themselves and with
// respect to batches. A caller that needs an order waits for the first to complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace nearcache::net {

class DirectMemory {
 public:
  // Tells other ranks how to access exposed memory.
  struct Key {
    uint64_t key = 0, address = 0;
  };

  // Memory is accessible to other ranks as long as this object exists.
  class Exposed {
   public:
    virtual ~Exposed() = default;
    Key key() const { return key_; }

   protected:
    Key key_;
  };

  // Makes memory accessible to other ranks. Returns null if that is impossible.
  virtual std::unique_ptr<Exposed> expose(std::byte* base, uint64_t size) = 0;
  // Whether exposed memory remains accessible even if the program unmaps or protects it. If not,
  // only memory that the program does not change may be exposed.
  virtual bool pins() const = 0;

  // There is a path to this rank, which exists until the rank is lost.
  virtual bool reaches(int peer) const = 0;
  // One more transfer may begin. If not, polls make room or report the rank as lost.
  virtual bool has_room(int peer) const = 0;

  // Begin a transfer of at most most_bytes at `offset`; has_room() must be true. When it is
  // complete, at the target too, a poll reports so (Receiver::transferred), for each peer in the
  // order in which transfers began. For a lost rank only the loss is reported. `data` may be
  // overwritten at once.
  static constexpr size_t most_bytes = 64 << 10;
  virtual void begin_read(int from, Key key, uint64_t offset, size_t size, uint64_t token) = 0;
  virtual void begin_write(int to, Key key, uint64_t offset, std::span<const std::byte> data,
                           uint64_t token) = 0;

 protected:
  ~DirectMemory() = default;
};

}  // namespace nearcache::net
