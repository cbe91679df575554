#include "rma/engine.h"

#include <cstring>
#include <utility>

namespace nearcache::rma {

Window* Engine::open(uint64_t id, Members members, Memory memory) {
  auto window = std::make_unique<Window>(this, id, std::move(members), std::move(memory));
  for (const int peer : lost_) window->lost(peer);
  return windows_.insert_or_assign(id, std::move(window)).first->second.get();
}

void Engine::close(Window* window) {
  for (Pending pending; pending_.take_any(window, &pending);) finish(pending, Status::no_window);
  windows_.erase(window->id());
}

Window* Engine::find(uint64_t id) {
  const auto found = windows_.find(id);
  return found == windows_.end() ? nullptr : found->second.get();
}

bool Engine::poll() {
  bool any = fabric_->poll(*this);
  while (take_own()) any = true;
  outbox_.push_all();
  return any;
}

bool Engine::take_own() {
  BatchWriter batch;
  if (!outbox_.take_own(&batch)) return false;
  received(rank(), batch.bytes());
  return true;
}

void Engine::received(int from, std::span<const std::byte> batch) {
  if (is_lost(from)) return;
  BatchReader reader(batch);
  for (Message message; reader.next(&message);) {
    if (!take(from, message)) return lost(from, "it broke the protocol of one-sided communication");
  }
  if (reader.malformed()) lost(from, "it sent what is no batch of messages");
}

// False if no rank that follows the protocol sends that.
bool Engine::take(int from, const Message& message) {
  const Head& head = message.head;
  if (head.kind == Kind::data || head.kind == Kind::acknowledged) return take_data(from, message);
  Window* window = find(head.window);
  if (head.kind == Kind::failed) {
    if (window != nullptr) window->failed(from, head.status);
    return true;
  }
  if (head.kind == Kind::post || head.kind == Kind::fence) {
    bool valid = window != nullptr;
    if (valid) window->take_token(from, message, &valid);
    return valid;
  }
  if (window == nullptr) {
    refuse(&outbox_, from, head, Status::no_window);
  } else {
    window->exposure().take(from, message);
  }
  return true;
}

bool Engine::take_data(int from, const Message& message) {
  const Head& head = message.head;
  Pending pending;
  if (!pending_.take(head.token, from, &pending)) return false;
  const bool fits = (head.kind == Kind::data) == (pending.to != nullptr) && (head.status != Status::ok || head.length == pending.length || head.kind != Kind::data);
  if (fits && !message.data.empty()) std::memcpy(pending.to, message.data.data(), message.data.size());
  finish(pending, fits ? head.status : Status::lost_peer);
  return fits;
}

void Engine::finish(const Pending& pending, Status status) {
  pending.window->answered(pending, status);
  if (pending.completion.call != nullptr) pending.completion.call(pending.completion.context, status);
}

void Engine::lost(int peer, const std::string& why) {
  if (peer == rank() || !lost_.insert(peer).second) return;
  if (why_lost_.empty()) why_lost_ = "rank " + std::to_string(peer) + " is gone: " + why;
  for (Pending pending; pending_.take_any(peer, &pending);) finish(pending, Status::lost_peer);
  for (const auto& [id, window] : windows_) window->lost(peer);
}

}  // namespace nearcache::rma
