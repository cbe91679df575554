// SPDX-License-Identifier: BSD-3-Clause

// Operations on other ranks' memory: done at once if it is near, otherwise sent as messages.
#include <algorithm>
#include <cstring>

#include "rma/engine.h"
#include "rma/execute.h"
#include "rma/execute_there.h"
#include "rma/window.h"

namespace nearcache::rma {
namespace {

// Runs of the target's memory; an estimate if the data ends within an element of a layout.
uint64_t runs_of(const Transfer& transfer) {
  const ElementLayout& layout = transfer.layout;
  return layout.size > 0 ? transfer.length / layout.size * layout.blocks : transfer.pieces.size();
}

}  // namespace

// Near memory

// A near target's memory, at its address in this process or in the target's.
Memory Window::memory_of(const Near& near) {
  if (near.reaches(Near::Reach::memory)) return Memory::fixed(near.base, near.size, near.unit);
  return Memory::fixed(reinterpret_cast<void*>(near.commons->place), near.commons->size, near.unit);
}

Status Window::execute_at(const Transfer& transfer, Near* near, bool* refused) {
  const Memory memory = near->rank == rank_ ? Memory() : memory_of(*near);
  const Memory& there = near->rank == rank_ ? exposure_.memory() : memory;
  const auto each_run = [&](auto function) {
    const Needed needed(transfer.kind, transfer.element, transfer.operation);
    const auto run = [&](const Piece& piece) {
      std::byte* at = there.at(transfer.displacement, 0, piece.offset, needed.of(piece.length));
      return at != nullptr && function(at, piece.length);
    };
    if (transfer.layout.size > 0) return transfer.layout.each_run(transfer.length, run);
    if (transfer.pieces.empty()) return run({0, transfer.length});
    return std::ranges::all_of(transfer.pieces, run);
  };
  const Action action{transfer.kind, transfer.element, transfer.operation,
                      transfer.data, transfer.result,  transfer.grain};
  if (const Status status = check(action, each_run); status != Status::ok) return status;
  Mutex* const elements = &near->commons->elements;
  if (near->reaches(Near::Reach::memory)) {
    return execute(action, elements, engine_->process(), each_run);
  }
  bool intact = true;
  const net::Reached reached = execute_there(action, MemoryOf{near->process}, transfer.length,
                                             elements, engine_->process(), &intact, each_run);
  if (!intact) return Status::half_done;
  *refused = reached == net::Reached::refused;
  if (reached != net::Reached::gone)
    return reached == net::Reached::unmapped ? Status::out_of_range : Status::ok;
  engine_->ended(members_.peer(near->rank));
  return Status::lost_peer;
}

bool Window::faster_by_message(const Transfer& transfer, const Near& near) {
  if (!near.reaches(Near::Reach::process)) return false;
  const uint64_t runs = runs_of(transfer);
  return runs >= many_runs && transfer.length / runs < short_run;
}

// Returns false if the memory can no longer be reached: operations are then sent as messages.
bool Window::execute_near(Transfer* transfer, Near* near) {
  bool refused = false;
  const Status status = execute_at(*transfer, near, &refused);
  if (refused) {
    near->open.store(Near::Open::no, std::memory_order_relaxed);
    near->reach.store(Near::Reach::messages, std::memory_order_relaxed);
    return false;
  }
  if (status != Status::ok) failed(members_.peer(near->rank), status);
  transfer->done = transfer->length;
  if (transfer->completion.call != nullptr)
    transfer->completion.call(transfer->completion.context, status);
  return true;
}

bool Window::move_at_once(const Near& near, Kind kind, int64_t displacement, void* here,
                          uint64_t bytes) {
  std::byte* const at = memory_of(near).at(displacement, 0, 0, bytes);
  if (at == nullptr || bytes == 0) return false;
  iovec run{at, bytes};
  auto* const own = static_cast<std::byte*>(here);
  const net::Reached reached = kind == Kind::put ? net::write_process(near.process, own, {&run, 1})
                                                 : net::read_process(near.process, own, {&run, 1});
  return reached == net::Reached::all;
}

// Operations

bool Window::issue(Transfer* transfer) {
  if (engine_->is_lost(members_.peer(transfer->target))) {
    target(transfer->target).error = Status::lost_peer;
    transfer->done = transfer->length;
    if (transfer->completion.call != nullptr)
      transfer->completion.call(transfer->completion.context, Status::lost_peer);
    return true;
  }
  if (transfer->length == 0) {
    if (transfer->completion.call != nullptr)
      transfer->completion.call(transfer->completion.context, Status::ok);
    return true;
  }
  if (Near* const near = this->near(transfer->target);
      near != nullptr && transfer->done == 0 && usable(near, known(transfer->target), true) &&
      !faster_by_message(*transfer, *near) && execute_near(transfer, near))
    return true;
  if (Near* const near = this->near(transfer->target); near != nullptr && near->queued) {
    if (crowded(transfer->target)) return false;
    return defer(transfer, near), true;
  }
  Target& to = target(transfer->target);
  take_lock(&to);
  if (goes_direct(*transfer, &to)) return transfer_directly(transfer, to.direct());
  Traffic* const traffic = &this->traffic(&to);
  use_layout(transfer, traffic);
  while (transfer->sent != nullptr && transfer->sent->told < transfer->layout.blocks) {
    if (crowded(transfer->target)) return flush(transfer->target), false;
    tell_layout(*transfer, traffic);
  }
  while (transfer->done < transfer->length) {
    if (crowded(transfer->target)) return flush(transfer->target), false;
    issue_part(transfer, &to);
  }
  if (transfer->sent != nullptr) --transfer->sent->users;
  return true;
}

bool Window::put_few(int rank, int64_t displacement, const void* data, uint64_t length) {
  Target* const to = known(rank);
  const int peer = members_.peer(rank);
  if (length == 0 || length > most_of_few || to == nullptr || near(rank) != nullptr ||
      to->lock == Lock::wanted || (all_locked_ && to->lock == Lock::none) ||
      (to->traffic != nullptr && crowded(*to)) || engine_->is_lost(peer))
    return false;
  if (engine_->direct_memory() != nullptr &&
      goes_direct(
          {.kind = Kind::put, .target = rank, .displacement = displacement, .length = length}, to))
    return false;
  Traffic* const traffic = &this->traffic(to);
  ++traffic->issued;
  ++to->operations;
  traffic->bytes += sizeof(Head) + bytes_of_few(length);  // as if it had a head of its own
  std::memcpy(engine_->outbox().append_few(peer, id_, fence_.odd(), displacement, length), data,
              length);
  if (traffic->bytes - traffic->bytes_asked > ask_after) ask(rank, traffic, Kind::acknowledge);
  return true;
}

void Window::use_layout(Transfer* transfer, Traffic* traffic) {
  const ElementLayout& layout = transfer->layout;
  if (transfer->sent != nullptr || transfer->done > 0 || layout.size == 0 ||
      runs_of(*transfer) < least_runs)
    return;
  std::vector<uint64_t> unused;
  transfer->sent = traffic->layouts.use(layout, layout_share(members_.size()), &unused);
  for (const uint64_t number : unused) {
    Head message = head(Kind::take_back_layout);
    message.token = number;
    engine_->outbox().append(members_.peer(transfer->target), message);
  }
}

void Window::tell_layout(const Transfer& transfer, Traffic* traffic) {
  const ElementLayout& layout = transfer.layout;
  uint64_t& told = transfer.sent->told;
  std::vector<Piece> blocks;
  for (; told < layout.blocks && blocks.size() < most_pieces; ++told)
    blocks.push_back(layout.block(layout.context, told));
  Head message = head(Kind::tell_layout);
  message.token = layout.number;
  message.length = layout.blocks;
  message.offset = static_cast<uint64_t>(layout.extent);
  message.has_pieces(blocks.size());
  engine_->outbox().append(members_.peer(transfer.target), message, blocks);
  ++traffic->issued;
  traffic->bytes += sizeof message + blocks.size() * sizeof(Piece);
}

// Bytes of the next message. One run of a put or get may be long. It travels in place in whole
// words (Outbox::append), so what is beyond them goes alone.
uint64_t Window::next_bytes(const Transfer& transfer, uint64_t grain) const {
  const uint64_t left = transfer.length - transfer.done;
  const bool one_run = transfer.pieces.empty() && transfer.layout.size == 0;
  if (left <= part || !one_run || (transfer.kind != Kind::put && transfer.kind != Kind::get))
    return std::min(left, part / grain * grain);
  const uint64_t most = engine_->fabric().most_data(members_.peer(transfer.target));
  return std::min({left, most, Exposure::most_bytes}) / sizeof(uint64_t) * sizeof(uint64_t);
}

// A large put or accumulate is sent at once. The first one after a flush that finds nothing else on
// its way asks, in its last message, for the reply that the next flush would ask for: it comes
// while the program computes. Were others to follow before that flush, each reply would be in vain.
bool Window::asks_reply(const Transfer& transfer, Target* to, uint64_t bytes) const {
  const bool asks = (transfer.kind == Kind::put || transfer.kind == Kind::accumulate) &&
                    bytes >= many_bytes && transfer.done + bytes == transfer.length &&
                    all_locked_ && !to->has_asked && to->traffic->reached == to->traffic->answered;
  if (asks) to->has_asked = true;
  return asks;
}

void Window::issue_part(Transfer* transfer, Target* to) {
  const bool fetches = transfer->kind != Kind::put && transfer->kind != Kind::accumulate;
  const uint64_t grain = transfer->grain > 0 ? transfer->grain : size_of(transfer->element);
  uint64_t bytes = next_bytes(*transfer, grain);
  Head message = head(transfer->kind);
  std::vector<Piece> pieces;
  if (transfer->sent != nullptr) {
    message.by_layout = 1;
    pieces = {{static_cast<int64_t>(transfer->layout.number), transfer->done}};
  } else if (transfer->pieces.empty() && transfer->layout.size == 0) {
    message.offset = transfer->done;
  } else {
    pieces = next_pieces(transfer, bytes, most_pieces, &bytes, grain);
  }
  message.element = transfer->element;
  message.operation = transfer->operation;
  message.odd_epoch = fence_.odd();
  message.has_pieces(pieces.size());
  message.displacement = transfer->displacement;
  message.length = bytes;
  Traffic* const traffic = &this->traffic(to);
  ++traffic->issued;
  ++to->operations;
  traffic->bytes += bytes + sizeof message + pieces.size() * sizeof(Piece);
  if (fetches) {
    Pending pending;
    pending.to = transfer->result + transfer->done;
    pending.length = bytes;
    // replies come in order
    if (transfer->done + bytes == transfer->length) pending.completion = transfer->completion;
    message.token = expect_reply(transfer->target, traffic, pending);
    if (bytes >= many_bytes) engine_->expect_body(members_.peer(transfer->target), message.token);
    traffic->fetching = traffic->issued;
  }
  if (asks_reply(*transfer, to, bytes)) message.token = expect_reply(to->rank, traffic, {});
  std::span<const std::byte> data;  // a get has none
  if (const uint64_t sent = data_bytes(message); sent > 0)
    data = {transfer->data + transfer->done, sent};
  engine_->outbox().append(members_.peer(transfer->target), message, pieces, data);
  transfer->done += bytes;
  if (!fetches && traffic->bytes - traffic->bytes_asked > ask_after)
    ask(transfer->target, traffic, Kind::acknowledge);
}

// Ends at the end of an element of `grain` bytes, unless not even one is whole.
std::vector<Piece> Window::next_pieces(Transfer* transfer, uint64_t most, size_t runs,
                                       uint64_t* bytes, uint64_t grain) const {
  const ElementLayout& layout = transfer->layout;
  const auto run = [&] {
    return layout.size > 0 ? layout.run(transfer->which_element, transfer->piece)
                           : transfer->pieces[transfer->piece];
  };
  const auto advance = [&](uint64_t length, uint64_t whole) {
    transfer->of_piece += length;
    if (transfer->of_piece < whole) return;
    transfer->of_piece = 0;
    if (++transfer->piece == layout.blocks) transfer->piece = 0, ++transfer->which_element;
  };
  std::vector<Piece> pieces;
  *bytes = 0;
  struct {
    size_t pieces = 0, piece = 0;
    uint64_t of_piece = 0, which_element = 0, bytes = 0, last = 0;
  } cut;
  while (transfer->done + *bytes < transfer->length && *bytes < most && pieces.size() < runs) {
    const Piece whole = run();
    const uint64_t length = std::min(whole.length - transfer->of_piece, most - *bytes);
    pieces.push_back({whole.offset + static_cast<int64_t>(transfer->of_piece), length});
    if (const uint64_t end = grain > 1 ? (*bytes + length) / grain * grain : 0; end > *bytes)
      cut = {pieces.size(), transfer->piece, transfer->of_piece, transfer->which_element,
             end,           end - *bytes};
    *bytes += length;
    advance(length, whole.length);
  }
  if (cut.bytes == 0 || cut.bytes == *bytes || transfer->done + *bytes == transfer->length)
    return pieces;
  pieces.resize(cut.pieces);
  pieces.back().length = cut.last;
  *bytes = cut.bytes;
  transfer->piece = cut.piece, transfer->of_piece = cut.of_piece;
  transfer->which_element = cut.which_element;
  advance(cut.last, run().length);
  return pieces;
}

bool Window::crowded(int rank) const {
  const Target* const to = known(rank);
  return to != nullptr && to->traffic != nullptr && crowded(*to);
}

bool Window::crowded(const Target& to) const {
  const Direct* const direct = to.traffic->direct.get();
  if (direct != nullptr && direct->crowded) {
    const int peer = members_.peer(to.rank);
    if (!engine_->is_lost(peer) && !engine_->direct_memory()->has_room(peer)) return true;
  }
  return to.traffic->bytes - to.traffic->bytes_reached > most_outstanding;
}

}  // namespace nearcache::rma
