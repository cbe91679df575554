// Memory of other ranks that a network reads and writes without them (RDMA), for fabrics that can.
//
// Not part of the stream of batches: reads and writes are unordered, among themselves and with
// batches. Whoever wants an order waits for the end of what comes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace nearcache::net {

class DirectMemory {
 public:
  // What others must know of memory.
  struct Key {
    uint64_t key = 0, address = 0;
  };

  // Memory is within reach of others as long as this exists.
  class Exposed {
   public:
    virtual ~Exposed() = default;
    Key key() const { return key_; }

   protected:
    Key key_;
  };

  // Null if that is impossible.
  virtual std::unique_ptr<Exposed> expose(std::byte* base, uint64_t size) = 0;
  // What is within reach stays so, even if the program unmaps or protects it meanwhile. If not,
  // only memory that stays as it is may be exposed.
  virtual bool pins() const = 0;

  // There is a way to this rank, which stays until the rank is lost.
  virtual bool reaches(int peer) const = 0;
  // One more may begin. If not, polls make room, or tell that the rank is lost.
  virtual bool has_room(int peer) const = 0;

  // Begin, where there is room: at most most_bytes, from `offset` on. When it is done,
  // at the target as well, a poll says so (Receiver::transferred), in the order in which they began
  // for this peer; of a rank that is lost nothing is said but that. The data may be overwritten at
  // once.
  static constexpr size_t most_bytes = 64 << 10;
  virtual void begin_read(int from, Key key, uint64_t offset, size_t size, uint64_t token) = 0;
  virtual void begin_write(int to, Key key, uint64_t offset, std::span<const std::byte> data,
                           uint64_t token) = 0;

 protected:
  ~DirectMemory() = default;
};

}  // namespace nearcache::net
