// SPDX-License-Identifier: BSD-3-Clause

// Memory of other ranks through libfabric's FI_RMA, on the endpoints of connections.
//
// All data passes through registered buffers of 64 KiB, 32 in all and at most 8 per peer. This
// satisfies providers that require registered local memory (FI_MR_LOCAL) without a registration
// cache, and data that arrives late from a peer that was given up never lands in the program's
// memory.
//
// A write is complete when its data is in the target's memory. If the provider's completion
// guarantees that (FI_DELIVERY_COMPLETE), nothing more is needed; otherwise the write is followed
// by a read of its last byte, which providers like verbs execute after it (FI_ORDER_RAW). Nothing
// is injected.
//
// If the provider lets us choose keys, they are drawn at random, because an endpoint exists before
// the other end has proven that it knows the job's secret.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "net/direct_memory.h"

namespace nearcache::net {

class OfiDirect {
 public:
  static constexpr size_t most_of_peer = 8;
  static constexpr size_t most_posted = 2 * most_of_peer;  // operations per endpoint
  static constexpr size_t buffer_size = DirectMemory::most_bytes;

  // The transfers ("moves") in flight to one peer, in order.
  class Queue {
   public:
    bool has_room() const { return moves_.size() < most_of_peer; }
    bool all_posted() const { return next_ - first_ >= moves_.size(); }

   private:
    friend OfiDirect;
    struct Move {
      uint64_t token;
      uint64_t key, address;
      size_t size;
      bool write;
      size_t buffer;
      int posted = 0;  // operations that were posted
      int open = 0;    // operations in flight
      int left = 0;    // operations still to be posted
    };
    std::deque<Move> moves_;
    uint64_t first_ = 0;  // number of the first move
    uint64_t next_ = 0;   // number of the first move that is not fully posted
  };

  enum class Way { delivery_complete, read_behind };
  OfiDirect(const fi_info& info, fid_domain* domain, Way way)
      : domain_(domain),
        way_(way),
        mode_(static_cast<uint64_t>(info.domain_attr->mr_mode)),
        key_size_(info.domain_attr->mr_key_size) {}
  ~OfiDirect();
  OfiDirect(const OfiDirect&) = delete;
  OfiDirect& operator=(const OfiDirect&) = delete;

  std::unique_ptr<DirectMemory::Exposed> expose(std::byte* base, uint64_t size);
  bool pins() const { return (mode_ & FI_MR_ALLOCATED) != 0; }
  // has_buffers() is false for good if the buffers cannot be registered; has_room() tells whether
  // one is free now.
  bool has_buffers() { return prepare(); }
  bool has_room() { return prepare() && !free_.empty(); }

  // `data` is what a write writes; null for a read.
  void add(Queue* queue, DirectMemory::Key key, uint64_t offset, size_t size, const std::byte* data,
           uint64_t token);
  // Posts what can be posted, with contexts that end in the move's number modulo most_of_peer.
  // Returns 0; -FI_EAGAIN, to be tried again later; or another error, after which the endpoint is
  // unusable.
  long post(Queue* queue, fid_ep* endpoint, uint64_t context);
  // One operation of the move with this number (modulo most_of_peer) has completed. Calls
  // done(token, data) for every move that is complete now, in order. Returns false if no operation
  // of that move was in flight.
  template <class Done>
  bool completed(Queue* queue, uint64_t number, Done done) {
    if (!count(queue, number)) return false;
    while (!queue->moves_.empty() && queue->moves_.front().open == 0 &&
           queue->moves_.front().left == 0) {
      const Queue::Move move = queue->moves_.front();
      queue->moves_.pop_front();
      ++queue->first_;
      done(move.token, move.write ? std::span<const std::byte>()
                                  : std::span<const std::byte>(buffer(move.buffer), move.size));
      free_.push_back(move.buffer);
    }
    return true;
  }
  // Drops all moves of a peer whose endpoint has been closed.
  void give_up(Queue* queue);

 private:
  static constexpr size_t buffers = 32;
  static constexpr size_t stride = buffer_size + 64;  // with room for the byte read after a write

  bool prepare();
  std::byte* buffer(size_t which) { return memory_.get() + which * stride; }
  long post_one(const Queue::Move& move, fid_ep* endpoint, void* context);
  static bool count(Queue* queue, uint64_t number);
  uint64_t new_key() const;

  fid_domain* domain_;
  Way way_;
  uint64_t mode_;
  size_t key_size_;
  bool prepared_ = false;
  std::unique_ptr<std::byte[]> memory_;
  fid_mr* registration_ = nullptr;
  std::vector<size_t> free_;
};

}  // namespace nearcache::net
