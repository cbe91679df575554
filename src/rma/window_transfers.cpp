// SPDX-License-Identifier: BSD-3-Clause

// Puts and gets that the network can do without the target (net/direct_memory.h). The target is
// asked once, by a message, where its memory is; the answer is kept with the target.
//
// Nobody at the target checks these transfers, so the origin must know beforehand what the agent
// would have checked:
//   - the lock has been granted: a message sent after it has been answered;
//   - the last fence is over at the target too, which may still have to execute what others sent
//     before it, and the target has posted for the access epoch. The question waits there for that,
//     like any operation (Window::take), and is asked again in each epoch;
//   - everything is within the window. What is not is sent as a message, and rejected as usual.
//
// Whatever tells others that operations are done, such as an unlock, is sent after they are
// (`transferred`). Accumulates are always executed by the agent or by ranks of its node, so that
// there is one atomic domain.
#include <algorithm>
#include <utility>

#include "rma/engine.h"
#include "rma/window.h"

namespace nearcache::rma {

bool Window::transferred(int rank) const {
  const Target* const to = known(rank);
  return to == nullptr || to->direct() == nullptr || to->direct()->done == to->direct()->begun;
}

bool Window::has_lock(const Target& to) const {
  if (to.lock == Lock::none) return !all_locked_;
  return to.lock == Lock::held && to.traffic->reached > to.traffic->locked_at && !to.refused;
}

// Whether the network is to do this operation. If not, may ask the target where its memory is.
bool Window::goes_direct(const Transfer& transfer, Target* to) {
  if (transfer.direct) return true;
  net::DirectMemory* const memory = engine_->direct_memory();
  if (memory == nullptr || (transfer.kind != Kind::put && transfer.kind != Kind::get) ||
      transfer.done > 0 || transfer.sent != nullptr || near(transfer.target) != nullptr)
    return false;
  const ElementLayout& layout = transfer.layout;
  const uint64_t runs = std::max<uint64_t>(
      1, layout.size > 0 ? transfer.length / layout.size * layout.blocks : transfer.pieces.size());
  const bool is_large = transfer.length / runs >= large;
  const Direct* const direct = to->direct();
  if (direct == nullptr) {
    if (traffic(to).bytes + transfer.length >= large) locate(to);
    return false;
  }
  if (direct->asked || direct->size == 0) return false;
  const bool is_alone = runs == 1 && to->quiet() && direct->begun - direct->done < most_small;
  if (!is_large && !is_alone) return false;
  if (direct->epoch != epoch()) {
    if (is_large) locate(to);
    return false;
  }
  const int peer = members_.peer(transfer.target);
  if (!has_lock(*to) || !memory->reaches(peer) || !lies_within(transfer, *direct)) return false;
  return is_large || memory->has_room(peer);
}

bool Window::lies_within(const Transfer& transfer, const Direct& direct) {
  const auto lies = [&](const Piece& run) {
    int64_t from;
    return !__builtin_mul_overflow(transfer.displacement, direct.unit, &from) &&
           !__builtin_add_overflow(from, run.offset, &from) && from >= 0 &&
           static_cast<uint64_t>(from) <= direct.size &&
           run.length <= direct.size - static_cast<uint64_t>(from);
  };
  if (transfer.layout.size > 0) return transfer.layout.each_run(transfer.length, lies);
  if (transfer.pieces.empty()) return lies({0, transfer.length});
  return std::ranges::all_of(transfer.pieces, lies);
}

// Returns false if there is no room for the rest now.
bool Window::transfer_directly(Transfer* transfer, Direct* to) {
  Direct& direct = *to;
  net::DirectMemory& memory = *engine_->direct_memory();
  const int peer = members_.peer(transfer->target);
  transfer->direct = true;
  while (transfer->done < transfer->length) {
    direct.crowded = !memory.has_room(peer);
    if (direct.crowded) return false;
    Piece run{static_cast<int64_t>(transfer->done),
              std::min<uint64_t>(transfer->length - transfer->done, net::DirectMemory::most_bytes)};
    if (!transfer->pieces.empty() || transfer->layout.size > 0)
      run = next_pieces(transfer, net::DirectMemory::most_bytes, 1, &run.length).front();
    Pending pending;
    pending.window = this;
    pending.target = transfer->target;
    pending.peer = peer;
    pending.by = Pending::By::transfer;
    pending.sequence = ++direct.begun;
    pending.length = run.length;
    ++transfers_;
    const auto offset = static_cast<uint64_t>(transfer->displacement * direct.unit + run.offset);
    const bool is_last = transfer->done + run.length == transfer->length;
    if (is_last) pending.completion = transfer->completion;  // transfers end in order
    if (transfer->kind == Kind::get) {
      pending.to = transfer->result + transfer->done;
      direct.fetching = direct.begun;
      memory.begin_read(peer, direct.key, offset, run.length, engine_->pending().add(pending));
    } else {
      memory.begin_write(peer, direct.key, offset, {transfer->data + transfer->done, run.length},
                         engine_->pending().add(pending));
    }
    transfer->done += run.length;
  }
  return true;
}

void Window::locate(Target* to) {
  Traffic& traffic = this->traffic(to);
  if (traffic.direct == nullptr) traffic.direct = std::make_unique<Direct>();
  traffic.direct->asked = true;
  traffic.direct->asked_in = epoch();
  ++traffic.issued;
  Head message = head(Kind::locate);
  message.odd_epoch = fence_.odd();
  Pending pending;
  pending.by = Pending::By::location;
  message.token = expect_reply(to->rank, &traffic, pending);
  engine_->outbox().append(members_.peer(to->rank), message);
}

void Window::located(int rank, std::span<const Piece> where) {
  Direct& direct = *target(rank).direct();
  direct.asked = false;
  direct.epoch = direct.asked_in;
  direct.size = 0;
  if (where.empty() || where[1].offset <= 0) return;
  direct.key = {static_cast<uint64_t>(where[0].offset), where[0].length};
  direct.unit = where[1].offset;
  direct.size = where[1].length;
}

}  // namespace nearcache::rma
