// SPDX-License-Identifier: BSD-3-Clause

// Operations on their way to other ranks: collected in one batch for each rank, until somebody
// waits for them or the batch is full.
#pragma once

#include <atomic>
#include <unordered_map>
#include <vector>

#include "net/fabric.h"
#include "rma/wire.h"

namespace nearcache::rma {

class Outbox {
 public:
  explicit Outbox(net::Fabric* fabric) : fabric_(fabric), own_(&batches_[fabric->rank()]) {}

  // Appends a message. Returns where its data goes, valid until the next message to this peer.
  std::byte* append(int peer, const Head& head, std::span<const Piece> pieces = {});
  // Appends a message with its data. Large data is sent at once, from where it is.
  void append(int peer, const Head& head, std::span<const Piece> pieces,
              std::span<const std::byte> data);
  // Sends a message at once, with data that may be unmapped and a status (Kind::unsure_data).
  // Returns false, having done nothing, if the data must be copied first.
  bool append_unsure(int peer, const Head& head, std::span<const std::byte> data);
  // Appends a small put (Kind::puts). Returns where its data goes.
  std::byte* append_few(int peer, uint64_t window, bool odd_epoch, int64_t displacement,
                        uint64_t length);
  void push(int peer);
  void push_all();
  // Whether anything is held for other ranks. May still be true when it has been sent. Any thread.
  bool holds() const { return holds_.load(std::memory_order_relaxed); }
  // Sets `mark` to true whenever something is held; its user resets it.
  void set_mark(std::atomic<bool>* mark) { mark_ = mark; }
  bool has_own() const { return !own_->empty(); }
  // Takes the messages that this rank has sent to itself. Returns false if there are none.
  bool take_own(BatchWriter* batch);

 private:
  // A batch of this size is sent: the target executes it while the next one is written.
  static constexpr size_t enough = 32 << 10;

  BatchWriter& batch_for(int peer);
  BatchWriter& batch_with_room(int peer);
  BatchWriter& batch_before(int peer, size_t data);
  BatchWriter& batch_to_fill(int peer);  // likewise, for a message that is held

  net::Fabric* fabric_;
  std::unordered_map<int, BatchWriter> batches_;  // none is ever removed
  BatchWriter* own_;                              // for this rank itself
  BatchWriter* recent_ = nullptr;                 // the last one used
  int recent_peer_ = -1;
  std::vector<int> filled_;         // other ranks whose batch is not empty, maybe more
  std::atomic<bool> holds_{false};  // there are such ranks
  std::atomic<bool>* mark_ = nullptr;
};

}  // namespace nearcache::rma
