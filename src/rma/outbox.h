// Operations on their way to other ranks: collected in one batch for each, until somebody waits for
// them or there are enough.
#pragma once

#include <atomic>
#include <unordered_map>
#include <vector>

#include "net/fabric.h"
#include "rma/wire.h"

namespace nearcache::rma {

class Outbox {
 public:
  explicit Outbox(net::Fabric* fabric) : fabric_(fabric) {}

  // Returns where the data of the message go, good until the next message to this peer.
  std::byte* append(int peer, const Head& head, std::span<const Piece> pieces = {});
  // The same with the data, which go from where they are if they are many.
  void append(int peer, const Head& head, std::span<const Piece> pieces,
              std::span<const std::byte> data);
  // The same at once, of data that may not be there, and a word (Kind::unsure_data). False, and
  // nothing has happened, if they have to be copied before.
  bool append_unsure(int peer, const Head& head, std::span<const std::byte> data);
  // The same of a put of few bytes.
  std::byte* append_few(int peer, uint64_t window, bool odd_epoch, int64_t displacement,
                        uint64_t length);
  void push(int peer);
  void push_all();
  // Something for others. True also where it went already. Any thread.
  bool holds() const { return holds_.load(std::memory_order_relaxed); }
  // True as soon as there is something; somebody else sets it to false again.
  void set_mark(std::atomic<bool>* mark) { mark_ = mark; }
  // The messages that this rank has sent to itself.
  bool take_own(BatchWriter* batch);

 private:
  // A batch that is this long goes: the target executes it while the next one is written.
  static constexpr size_t enough = 32 << 10;

  BatchWriter& batch_for(int peer);
  BatchWriter& batch_with_room(int peer);
  BatchWriter& batch_before(int peer, size_t data);
  BatchWriter& batch_to_fill(int peer);  // the same, of which something stays here

  net::Fabric* fabric_;
  std::unordered_map<int, BatchWriter> batches_;  // none is ever taken out
  BatchWriter* recent_ = nullptr;                 // the last one that was asked for
  int recent_peer_ = -1;
  std::vector<int> filled_;         // other ranks whose batch is not empty, and maybe more
  std::atomic<bool> holds_{false};  // there are such
  std::atomic<bool>* mark_ = nullptr;
};

}  // namespace nearcache::rma
