// SPDX-License-Identifier: BSD-3-Clause

// What goes through endpoints: messages (ofi_fabric.h has the rules), moves of memory, and their
// completions.
#if __has_include(<rdma/fabric.h>)
#include "net/ofi_endpoints.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace nearcache::net {
namespace {

constexpr int enough_owed = 3;
constexpr size_t head_size = sizeof(uint64_t);  // the number of buffers that were reposted
constexpr int polls_between_events = 8;  // of completions, until connections are polled as well

}  // namespace

size_t OfiEndpoints::give(Connection* connection, Pieces pieces) {
  Wire* const wire = OfiEndpoints::wire(connection);
  std::array<std::span<const std::byte>, most_pieces> left;
  std::ranges::copy(pieces, left.begin());
  size_t all = 0, gone = 0;
  for (const auto piece : pieces) all += piece.size();
  while (gone < all && wire->credits > 0 && wire->free != 0) {
    if (wire->broken) return all;
    std::array<std::span<const std::byte>, most_pieces> now;
    size_t room = buffer_size - head_size;
    for (size_t i = 0; i < most_pieces; ++i) {
      now[i] = left[i].first(std::min(left[i].size(), room));
      room -= now[i].size();
    }
    if (!send_message(wire, now)) break;
    for (size_t i = 0; i < most_pieces; ++i) left[i] = left[i].subspan(now[i].size());
    gone += buffer_size - head_size - room;
    --wire->credits;
  }
  return wire->broken ? all : gone;
}

// Returns false if libfabric has no room now, or the connection is broken.
bool OfiEndpoints::send_message(Wire* wire, Pieces pieces) {
  const int buffer = std::countr_zero(wire->free);
  std::byte* const to = wire->send_buffer(buffer);
  const uint64_t owed = static_cast<uint64_t>(wire->owed);
  std::memcpy(to, &owed, head_size);
  size_t size = head_size;
  for (const auto piece : pieces) {
    std::ranges::copy(piece, to + size);
    size += piece.size();
  }
  const ssize_t error = fi_send(wire->endpoint, to, size, fi_mr_desc(wire->registration),
                                FI_ADDR_UNSPEC, context_of(*wire, true, buffer));
  if (error == -FI_EAGAIN) {
    again_ = true;
  } else if (error != 0) {
    break_off(wire, "its connection broke", error);
  } else {
    wire->owed = 0;
    wire->free &= ~(1u << buffer);
  }
  // the send may have taken messages from the system
  if (armed_ && !arm()) ring();
  return error == 0;
}

// Sends what is queued, reports reposted buffers and posts moves, as far as possible.
void OfiEndpoints::go_on(Wire* wire) {
  if (!queue_of(wire).empty()) write(wire);
  if (wire->owed >= enough_owed && wire->free != 0 && !wire->broken) send_message(wire, {});
  if (direct_ != nullptr) post_moves(wire);
}

void OfiEndpoints::move(int peer, Key key, uint64_t offset, size_t size, const std::byte* data,
                        uint64_t token) {
  Wire* const wire = OfiEndpoints::wire(open_connection(peer));
  direct_->add(&wire->moves, key, offset, size, data, token);
  post_moves(wire);
}

void OfiEndpoints::post_moves(Wire* wire) {
  if (wire->broken || wire->moves.all_posted()) return;
  const long error = direct_->post(&wire->moves, wire->endpoint, wire->id << 8 | of_move);
  if (error == -FI_EAGAIN) {
    again_ = true;
  } else if (error != 0) {
    break_off(wire, "its connection broke", error);
  }
  if (armed_ && !arm()) ring();
}

bool OfiEndpoints::post(Wire* wire, int buffer) {
  const ssize_t error =
      fi_recv(wire->endpoint, wire->receive_buffer(buffer), buffer_size,
              fi_mr_desc(wire->registration), FI_ADDR_UNSPEC, context_of(*wire, false, buffer));
  if (error != 0) break_off(wire, "cannot post a buffer", error);
  return error == 0;
}

void OfiEndpoints::look() {
  const bool all = std::exchange(armed_, false) || ++polls_ % polls_between_events == 0;
  if (rung_.load(std::memory_order_relaxed) && rung_.exchange(false)) {
    uint64_t rings;
    [[maybe_unused]] const ssize_t got = ::read(doorbell_, &rings, sizeof rings);
  }
  read_completions();
  if (all) read_events();
  if (std::exchange(again_, false)) {
    for (const auto& entry : connections()) {
      if (entry.first->state != State::closed) go_on(wire(entry.first));
    }
  }
  for (const auto& [id, why] : std::exchange(broken_, {})) {
    if (Wire* const wire = find(id); wire != nullptr) lose(wire, why);
  }
}

void OfiEndpoints::read_completions() {
  for (;;) {
    fi_cq_msg_entry entries[16];
    const ssize_t count = fi_cq_read(completions_, entries, std::size(entries));
    if (count == -FI_EAVAIL) {
      take_failure();
      continue;
    }
    if (count <= 0) return;
    for (ssize_t i = 0; i < count; ++i) completed(entries[i]);
  }
}

void OfiEndpoints::completed(const fi_cq_msg_entry& entry) {
  const auto context = reinterpret_cast<uintptr_t>(entry.op_context);
  Wire* const wire = find(context >> 8);
  if (wire == nullptr) return;
  if ((context & of_move) != 0) {
    const auto done = [&](uint64_t token, std::span<const std::byte> data) {
      transferred(wire, token, data);
    };
    direct_->completed(&wire->moves, context % OfiDirect::most_of_peer, done);
    if (wire->state != State::closed) post_moves(wire);
    return;
  }
  const int buffer = static_cast<int>(context & (buffers - 1));
  if ((context & of_send) != 0) {
    wire->free |= 1u << buffer;
    go_on(wire);
  } else {
    wire->arrived[buffer] = entry.len + 1;
    // In the order in which the buffers were posted, which is that of the messages.
    while (wire->state != State::closed && wire->arrived[wire->next] != 0) {
      const size_t size = std::exchange(wire->arrived[wire->next], 0) - 1;
      const int first = std::exchange(wire->next, (wire->next + 1) % buffers);
      take_message(wire, first, size);
    }
  }
}

void OfiEndpoints::take_message(Wire* wire, int buffer, size_t size) {
  const std::byte* const from = wire->receive_buffer(buffer);
  uint64_t returned = window + 1;
  if (size >= head_size && size <= buffer_size) std::memcpy(&returned, from, head_size);
  if (returned > static_cast<uint64_t>(window - wire->credits))
    return lose(wire, "it broke the protocol");
  wire->credits += static_cast<int>(returned);
  arrived(wire, std::span(from, size).subspan(head_size));
  if (wire->state == State::closed || !post(wire, buffer)) return;
  wire->owed += size > head_size;
  go_on(wire);
}

void OfiEndpoints::take_failure() {
  fi_cq_err_entry failure{};
  if (fi_cq_readerr(completions_, &failure, 0) < 0) return;
  Wire* const wire = find(reinterpret_cast<uintptr_t>(failure.op_context) >> 8);
  if (wire != nullptr) lose(wire, failed("its connection broke", failure.err));
}

}  // namespace nearcache::net

#endif
