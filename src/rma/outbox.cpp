#include "rma/outbox.h"

#include <utility>

namespace nearcache::rma {

BatchWriter& Outbox::batch_for(int peer) {
  if (peer == recent_peer_) return *recent_;
  recent_peer_ = peer;
  return *(recent_ = &batches_[peer]);
}

std::byte* Outbox::append(int peer, const Head& head, std::span<const Piece> pieces) {
  BatchWriter& batch = batch_for(peer);
  if (batch.bytes().size() >= enough) push(peer);
  if (batch.empty() && peer != fabric_->rank()) {
    filled_.push_back(peer);
    holds_.store(true, std::memory_order_relaxed);
  }
  return batch.append(head, pieces);
}

void Outbox::push(int peer) {
  const auto found = batches_.find(peer);
  if (peer == fabric_->rank() || found == batches_.end() || found->second.empty()) return;
  fabric_->send(peer, found->second.bytes());
  found->second.clear();
}

void Outbox::push_all() {
  if (!holds()) return;
  for (const int peer : filled_) push(peer);
  filled_.clear();
  holds_.store(false, std::memory_order_relaxed);
}

bool Outbox::take_own(BatchWriter* batch) {
  BatchWriter& own = batches_[fabric_->rank()];
  batch->clear();
  std::swap(own, *batch);
  return !batch->empty();
}

}  // namespace nearcache::rma
