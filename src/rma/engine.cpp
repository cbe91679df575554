#include "rma/engine.h"

#include <unistd.h>

#include <cstring>
#include <utility>

namespace nearcache::rma {

Engine::Engine(net::Fabric* fabric)
    : fabric_(fabric), process_(static_cast<uint32_t>(getpid())), outbox_(fabric) {}

Window* Engine::open(uint64_t id, Members members, Memory memory, Node* node) {
  auto window = std::make_unique<Window>(this, id, std::move(members), std::move(memory), node);
  for (const int peer : lost_) window->lost(peer);
  Window* opened = windows_.insert_or_assign(id, std::move(window)).first->second.get();
  take_early(opened);
  push();  // who has asked already need not wait until this rank looks at the network again
  return opened;
}

void Engine::take_early(Window* window) {
  const auto found = early_.find(window->id());
  if (found == early_.end()) return;
  const auto all = std::move(found->second);
  early_.erase(found);
  for (const auto& [from, messages] : all) {
    early_bytes_[from] -= messages.bytes().size();
    if (is_lost(from)) continue;  // a lock that it asked for would be nobody's to free
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

// What came for a window that was agreed not to be is refused now.
void Engine::end_opening() {
  if (--opening_ > 0) return;
  early_bytes_.clear();
  for (const auto& [id, all] : std::exchange(early_, {})) {
    for (const auto& [from, messages] : all) received(from, messages.bytes());
  }
}

// False if it is more than a rank can have to say to the windows that are being opened here.
bool Engine::keep_early(int from, const Message& message) {
  size_t& bytes = early_bytes_[from];
  bytes += message.whole.size();
  if (bytes > most_held * static_cast<size_t>(opening_)) return false;
  early_[message.head.window][from].append_whole(message.whole);
  return true;
}

void Engine::close(Window* window) {
  for (Pending pending; pending_.take_any(window, &pending);) finish(pending, Status::no_window);
  std::erase(queueing_, window);
  windows_.erase(window->id());
}

Window* Engine::find(uint64_t id) {
  const auto found = windows_.find(id);
  return found == windows_.end() ? nullptr : found->second.get();
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
  if (window != nullptr) return take_for(window, message, from);
  if (opening_ > 0) return keep_early(from, message);
  if (head.kind == Kind::lock_freed) return true;  // nobody waits for it any more
  if (is_token(head.kind)) return false;
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

bool Engine::take_data(int from, const Message& message) {
  const Head& head = message.head;
  Pending pending;
  if (!pending_.take(head.token, from, &pending)) return false;
  const bool fits =
      (head.kind == Kind::data) == (pending.to != nullptr) &&
      (head.status != Status::ok || head.length == pending.length || head.kind != Kind::data);
  if (fits && !message.data.empty())
    std::memcpy(pending.to, message.data.data(), message.data.size());
  finish(pending, fits ? head.status : Status::lost_peer);
  return fits;
}

void Engine::finish(const Pending& pending, Status status) {
  pending.window->answered(pending, status);
  if (pending.completion.call != nullptr)
    pending.completion.call(pending.completion.context, status);
}

// Its connection, if there was one, may have told before: locks are free only now that nobody
// writes any more what they cover.
void Engine::ended(int peer) {
  lost(peer, "its process has ended");
  for (const auto& [id, window] : windows_) window->ended(peer);
}

void Engine::lost(int peer, const std::string& why) {
  if (peer == rank() || !lost_.insert(peer).second) return;
  if (why_lost_.empty()) why_lost_ = "rank " + std::to_string(peer) + " is gone: " + why;
  for (Pending pending; pending_.take_any(peer, &pending);) finish(pending, Status::lost_peer);
  for (const auto& [id, window] : windows_) window->lost(peer);
}

}  // namespace nearcache::rma
