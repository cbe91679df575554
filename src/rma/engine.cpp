// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine.h"

#include <unistd.h>

#include <cstring>
#include <utility>

namespace nearcache::rma {

Engine::Engine(net::Fabric* fabric)
    : fabric_(fabric),
      direct_(fabric->direct_memory()),
      process_(static_cast<uint32_t>(getpid())),
      outbox_(fabric) {}

Window* Engine::open(uint64_t id, Members members, Memory memory, Node* node) {
  windows_.erase(id);
  Window& window =
      windows_.try_emplace(id, this, id, std::move(members), std::move(memory), node).first->second;
  for (const int peer : lost_) window.lost(peer);
  take_early(&window);
  push();  // ranks that have asked already need not wait until this one polls
  return &window;
}

void Engine::take_early(Window* window) {
  const auto found = early_.find(window->id());
  if (found == early_.end()) return;
  const auto all = std::move(found->second);
  early_.erase(found);
  for (const auto& [from, messages] : all) {
    early_bytes_[from] -= messages.bytes().size();
    if (is_lost(from)) continue;  // nobody would release a lock that it asked for
    BatchReader reader(messages.bytes());
    for (Message message; reader.next(&message);) {
      if (!take_for(window, message, from)) {
        settle();
        lost(from, "it broke the protocol of one-sided communication");
        break;
      }
    }
    settle();
  }
}

// Refuses what has come for windows that the ranks have agreed not to open.
void Engine::end_opening() {
  if (--opening_ > 0) return;
  early_bytes_.clear();
  for (const auto& [id, all] : std::exchange(early_, {})) {
    for (const auto& [from, messages] : all) received(from, messages.bytes());
  }
}

// Returns false if it is more than a rank can have to say to the windows that are being opened
// here.
bool Engine::keep_early(int from, const Message& message) {
  size_t& bytes = early_bytes_[from];
  bytes += message.whole.size();
  if (bytes > most_held * static_cast<size_t>(opening_)) return false;
  early_[message.head.window][from].append_whole(message.whole);
  return true;
}

void Engine::give_up(Window* window, Status status) {
  size_t from = 0;
  for (Pending pending; pending_.give_up_next(window, &from, &pending);) finish(pending, status);
}

void Engine::close(Window* window) {
  give_up(window, Status::no_window);
  std::erase(queueing_, window);
  window->refuse_held();
  windows_.erase(window->id());
  push();
}

Window* Engine::find(uint64_t id) {
  const auto found = windows_.find(id);
  return found == windows_.end() ? nullptr : &found->second;
}

bool Engine::poll() {
  const bool any = fabric_->poll(*this);
  const bool own = run_own(), turns = take_turns();
  outbox_.push_all();
  return any || own || turns;
}

bool Engine::take_turns() {
  bool any = false;
  if (queueing_.empty()) return any;
  for (Window* window : std::exchange(queueing_, {})) any = window->take_turns() || any;
  return any;
}

bool Engine::run_own() {
  bool any = false;
  for (BatchWriter batch; outbox_.take_own(&batch); any = true) received(rank(), batch.bytes());
  return any;
}

void Engine::received(int from, std::span<const std::byte> batch) {
  if (is_lost(from)) return;
  BatchReader reader(batch);
  bool sound = true;
  for (Message message; sound && reader.next(&message);) sound = take(from, message);
  settle();
  if (!sound) return lost(from, "it broke the protocol of one-sided communication");
  if (reader.malformed()) lost(from, "it sent something other than a batch of messages");
}

// Returns false if no rank that follows the protocol would send the message.
bool Engine::take(int from, const Message& message) {
  const Head& head = message.head;
  if (is_data(head.kind) || head.kind == Kind::acknowledged) return take_data(from, message);
  if (head.kind == Kind::located) return take_location(from, message);
  Window* window = find(head.window);
  if (head.kind == Kind::failed) {
    if (window != nullptr) window->failed(from, head.status);
    return true;
  }
  if (window != nullptr) return take_for(window, message, from);
  if (opening_ > 0) return keep_early(from, message);
  // Nobody waits for the lock, or for the fence, any more.
  if (head.kind == Kind::lock_freed || head.kind == Kind::broken) return true;
  // If the window has lost a member and is closed here already, others may not know that yet.
  if (is_token(head.kind)) return !why_lost_.empty();
  refuse(&outbox_, from, head, Status::no_window);
  return true;
}

bool Engine::take_for(Window* window, const Message& message, int from) {
  if (window != unsettled_) settle();
  unsettled_ = window;
  return is_token(message.head.kind) ? window->take_token(from, message)
                                     : window->take(from, message);
}

void Engine::settle() {
  if (unsettled_ != nullptr) std::exchange(unsettled_, nullptr)->settle();
}

namespace {

// Reads the status that follows data. Returns false if it is not a valid one.
bool read_status(std::span<const std::byte> word, Status* status) {
  uint64_t number;
  std::memcpy(&number, word.data(), sizeof number);
  *status = static_cast<Status>(number);
  return number < status_count;
}

}  // namespace

bool Engine::take_data(int from, const Message& message) {
  const Head& head = message.head;
  Pending pending;
  if (!pending_.take(head.token, from, &pending)) return false;
  if (pending.window == nullptr) return true;
  Status status = head.status;
  bool fits = pending.by == Pending::By::reply && pending.window->is_due(pending) &&
              is_data(head.kind) == (pending.to != nullptr) &&
              (status != Status::ok || head.length == pending.length || !is_data(head.kind));
  if (head.kind == Kind::unsure_data)
    fits =
        fits && status == Status::ok && read_status(message.data.last(sizeof(uint64_t)), &status);
  if (fits && is_data(head.kind) && status == Status::ok)
    std::memcpy(pending.to, message.data.data(), head.length);
  finish(pending, fits ? status : Status::lost_peer);
  return fits;
}

// Large bodies, each in a batch of its own

void Engine::expect_body(int peer, uint64_t token) {
  expected_body(peer);  // removes those that are here
  expected_[peer].push_back(token);
}

net::Place Engine::expected_body(int from) {
  const auto found = expected_.find(from);
  if (found == expected_.end()) return {};
  for (std::deque<uint64_t>& tokens = found->second; !tokens.empty(); tokens.pop_front()) {
    const Pending* const pending = pending_.find(tokens.front(), from);
    if (pending != nullptr && pending->window != nullptr) return {pending->to, pending->length};
  }
  return {};
}

// Checks everything, as anything may have happened since the last call.
net::Place Engine::body(int from, std::span<const std::byte> bytes, size_t batch) {
  static_assert(sizeof(Head) == net::Receiver::head_bytes);
  Head head;
  std::memcpy(static_cast<void*>(&head), bytes.data(), sizeof head);
  if (is_lost(from) || !is_sound(head) || head.length < many_bytes ||
      head.length % sizeof(uint64_t) != 0 || head.pieces != 0 || head.status != Status::ok ||
      sizeof head + data_bytes(head) != batch)
    return {};
  if (is_data(head.kind)) {
    const Pending* const pending = pending_.find(head.token, from);
    if (pending == nullptr || pending->by != Pending::By::reply || pending->to == nullptr ||
        pending->length != head.length)
      return {};
    return {pending->to, head.length};
  }
  if (head.kind != Kind::put || head.by_layout != 0) return {};
  Window* const window = find(head.window);
  std::byte* const at = window != nullptr ? window->place_of_put(from, head) : nullptr;
  return at != nullptr ? net::Place{at, head.length} : net::Place{};
}

void Engine::received_apart(int from, std::span<const std::byte> bytes,
                            std::span<const std::byte> end, bool in_place) {
  if (is_lost(from)) return;
  Head head;
  std::memcpy(static_cast<void*>(&head), bytes.data(), sizeof head);
  if (head.kind == Kind::put) return take_put_apart(from, head, in_place);
  if (!take_data_apart(from, head, end, in_place))
    lost(from, "it broke the protocol of one-sided communication");
}

bool Engine::take_data_apart(int from, const Head& head, std::span<const std::byte> end,
                             bool in_place) {
  Pending pending;
  if (!pending_.take(head.token, from, &pending)) return false;
  if (pending.window == nullptr) return true;
  Status status = Status::ok;
  const bool fits = pending.by == Pending::By::reply && pending.window->is_due(pending) &&
                    (head.kind == Kind::data || read_status(end, &status));
  // The program's own memory is missing.
  if (status == Status::ok && !in_place) status = Status::out_of_range;
  finish(pending, fits ? status : Status::lost_peer);
  return fits;
}

void Engine::take_put_apart(int from, const Head& head, bool in_place) {
  Window* const window = find(head.window);
  if (window == nullptr) return refuse(&outbox_, from, head, Status::no_window);
  window->put_apart(from, head, in_place);
}

// Memory that the network reads and writes

bool Engine::take_location(int from, const Message& message) {
  Pending pending;
  if (!pending_.take(message.head.token, from, &pending)) return false;
  if (pending.window == nullptr) return true;
  const bool fits = pending.by == Pending::By::location && pending.window->is_due(pending) &&
                    (message.pieces.empty() || message.pieces.size() == 2);
  if (fits) pending.window->located(pending.target, message.pieces);
  finish(pending, fits ? message.head.status : Status::lost_peer);
  return fits;
}

// If the token is no longer known, the peer is lost.
void Engine::transferred(int peer, uint64_t token, std::span<const std::byte> data) {
  Pending pending;
  if (!pending_.take(token, peer, &pending) || pending.window == nullptr) return;
  ++(pending.to != nullptr ? transfers_.reads : transfers_.writes);
  if (pending.to != nullptr) std::memcpy(pending.to, data.data(), data.size());
  finish(pending, Status::ok);
}

void Engine::finish(const Pending& pending, Status status) {
  if (pending.window == nullptr) return;
  pending.window->answered(pending, status);
  if (pending.completion.call != nullptr)
    pending.completion.call(pending.completion.context, status);
}

// A broken connection may have reported the loss before. Only now are locks released, because only
// now is it certain that the peer no longer writes to the memory that they protect.
void Engine::ended(int peer) {
  lost(peer, "its process has ended");
  for (auto& [id, window] : windows_) window.ended(peer);
}

void Engine::told_of_loss(int peer, int teller) {
  if (why_lost_.empty())
    why_lost_ = "rank " + std::to_string(peer) + " is gone: rank " + std::to_string(teller) +
                " has lost it";
}

void Engine::lost(int peer, const std::string& why) {
  if (peer == rank() || !lost_.insert(peer).second) return;
  fabric_->forget(peer);
  if (why_lost_.empty()) why_lost_ = "rank " + std::to_string(peer) + " is gone: " + why;
  size_t from = 0;
  for (Pending pending; pending_.take_next(peer, &from, &pending);)
    finish(pending, Status::lost_peer);
  for (auto& [id, window] : windows_) window.lost(peer);
}

}  // namespace nearcache::rma
