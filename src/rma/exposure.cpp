// SPDX-License-Identifier: BSD-3-Clause
#include "rma/exposure.h"

#include <cstring>
#include <iterator>
#include <utility>

#include "rma/engine.h"
#include "rma/execute_there.h"

namespace nearcache::rma {
namespace {

bool fetches(Kind kind) {
  return kind == Kind::get || kind == Kind::fetch || kind == Kind::compare_and_swap;
}

bool asks_reply(const Head& request) {
  return (request.kind == Kind::put || request.kind == Kind::accumulate) && request.token != 0;
}

Head acknowledgement(const Head& request) {
  return {.kind = Kind::acknowledged, .window = request.window, .token = request.token};
}

}  // namespace

void refuse(Outbox* outbox, int to, const Head& request, Status status) {
  Head reply{.kind = fetches(request.kind) ? Kind::data : Kind::failed,
             .status = status,
             .window = request.window,
             .token = request.token};
  if (request.kind == Kind::locate) reply.kind = Kind::located;
  // No fence counts requests for an acknowledgement: one may come when everything before it is
  // executed and the window is closed here. Had that been refused, it would have been said.
  const bool acknowledges = request.kind == Kind::acknowledge;
  if (!acknowledges || status != Status::no_window) outbox->append(to, reply);
  if (request.kind == Kind::unlock || acknowledges || asks_reply(request))
    outbox->append(to, acknowledgement(request));
}

// Calls function(address, length) with each non-empty run of memory of a message. Returns false if
// a run is outside of the window, or the runs do not have as many bytes as the head says.
template <class Function>
bool Exposure::each_run(int from, const Message& message, Function function) const {
  const Head& head = message.head;
  const Needed needed(head.kind, head.element, head.operation);
  const auto run = [&](int64_t offset, uint64_t length) {
    std::byte* at = memory_.at(head.displacement, 0, offset, needed.of(length));
    return at != nullptr && (length == 0 || function(at, length));
  };
  if (head.by_layout != 0) {
    const ToldLayouts::Told* layout =
        message.pieces.size() == 1 && rare_ != nullptr
            ? rare_->layouts.find(from, static_cast<uint64_t>(message.pieces[0].offset))
            : nullptr;
    return layout != nullptr && layout->each_run(message.pieces[0].length, head.length, run);
  }
  if (message.pieces.empty()) {
    std::byte* at = memory_.at(head.displacement, head.offset, 0, needed.of(head.length));
    return at != nullptr && (head.length == 0 || function(at, head.length));
  }
  uint64_t left = head.length;
  for (const Piece& piece : message.pieces) {
    if (piece.length > left || !run(piece.offset, piece.length)) return false;
    left -= piece.length;
  }
  return left == 0;
}

// Parts that are made when they are needed

Exposure::~Exposure() = default;

Exposure::Rare& Exposure::rare() {
  if (rare_ == nullptr)
    rare_ =
        std::make_unique<Rare>(Rare{.exposed = {},
                                    .layouts = ToldLayouts(layout_share(window_->members().size())),
                                    .deferred = {},
                                    .without_lock = {}});
  return *rare_;
}

Locks& Exposure::locks() {
  if (locks_ == nullptr) locks_ = std::make_unique<Locks>(&commons().lock, window_->queue());
  return *locks_;
}

Outbox& Exposure::outbox() const { return window_->engine().outbox(); }
Commons& Exposure::commons() const { return window_->commons(); }
CheckedCopies& Exposure::copies() const { return window_->engine().copies(); }

// Requests

bool Exposure::take(int from, const Message& message) {
  if (waits(from)) return rare().deferred[from].hold(message.whole);
  run(from, message);
  return true;
}

void Exposure::run(int from, const Message& message) {
  const Head& head = message.head;
  if (head.kind == Kind::puts) return put_each(from, message);
  if (!copies().takes(this, from, head)) copy_held();
  if (is_operation(head.kind)) return operate(from, message);
  switch (head.kind) {
    case Kind::lock_shared:
      if (!locks().ask(from, LockType::shared, head.token != 0)) grant();
      break;
    case Kind::lock_exclusive:
      if (!locks().ask(from, LockType::exclusive)) grant();
      break;
    case Kind::unlock:
      unlock(from, head);
      break;
    case Kind::acknowledge:
      if (without_lock(from)) return rma::refuse(&outbox(), from, head, Status::lost_lock);
      outbox().append(from, acknowledgement(head));
      break;
    case Kind::complete:
      ++completed_;
      break;
    case Kind::tell_layout:
      rare().layouts.tell(from, message);
      break;
    case Kind::take_back_layout:
      rare().layouts.take_back(from, head.token);
      break;
    case Kind::locate:
      locate(from, head);
      break;
    default:
      break;
  }
}

// For several runs, and for accumulates.
template <class EachRun>
Status Exposure::execute_checked(const Action& action, uint64_t length, EachRun runs) {
  bool intact = true;
  const net::Reached reached =
      execute_there(action, OwnMemory{&window_->engine().detour()}, length, &commons().elements,
                    window_->engine().process(), &intact, runs);
  if (!intact) return Status::half_done;
  return reached == net::Reached::all ? Status::ok : Status::out_of_range;
}

void Exposure::operate(int from, const Message& message) {
  const Head& head = message.head;
  const Status status = check(from, message);
  const bool one_run = message.pieces.empty() && head.length > 0;
  std::byte* const at =
      one_run ? memory_.at(head.displacement, head.offset, 0, head.length) : nullptr;
  if (status == Status::ok && !memory_.is_certain() && one_run &&
      (head.kind == Kind::put || head.kind == Kind::get)) {
    if (head.kind == Kind::get && head.length >= many_bytes) {
      copy_held();
      if (send_unsure(from, head, at)) return;
    }
    if (head.length <= net::Detour::bytes)
      return copies().add(this, from, {head, at, message.data.data()});
  }
  copy_held();
  ++executed_[head.odd_epoch];
  if (status != Status::ok) return rma::refuse(&outbox(), from, head, status);
  // The size of an element of `bytes` is not sent, but a message never ends within one.
  const uint64_t grain = head.element == Element::bytes ? head.length : 0;
  Action action{head.kind, head.element, head.operation, message.data.data(), nullptr, grain};
  const auto runs = [&](auto function) { each_run(from, message, function); };
  if (memory_.is_certain() && head.kind == Kind::get) {
    if (one_run) return send_data(from, head, at);
    action.result = reply(from, head);
    execute(action, &commons().elements, window_->engine().process(), runs);
    return;
  }
  std::vector<std::byte>& fetched = window_->engine().fetched();
  if (fetches(head.kind)) fetched.resize(head.length), action.result = fetched.data();
  // Asked only once the mutex is held, as that may take long; and not of what is only read, as the
  // answer would make pages of it.
  const auto is_there = [&] {
    return memory_.is_certain() || net::Detour::can_write(at, head.length);
  };
  std::optional<Status> done;
  if (memory_.is_certain() || (at != nullptr && head.kind != Kind::get))
    done = execute_if(action, &commons().elements, window_->engine().process(), runs, is_there);
  if (!done) done = execute_checked(action, head.length, runs);
  if (*done != Status::ok) return rma::refuse(&outbox(), from, head, *done);
  if (fetches(head.kind)) send_data(from, head, fetched.data());
  if (asks_reply(head)) outbox().append(from, acknowledgement(head));
}

void Exposure::put_each(int from, const Message& message) {
  Head put = message.head;
  put.kind = Kind::put;
  put.offset = 0;
  const bool has_lock = !without_lock(from);
  if (memory_.is_certain() || !has_lock) copy_held();
  const uint64_t step = bytes_of_few(put.length);
  for (auto rest = message.data; !rest.empty(); rest = rest.subspan(step)) {
    std::memcpy(&put.displacement, rest.data(), sizeof put.displacement);
    const std::byte* const data = rest.data() + sizeof put.displacement;
    std::byte* const at = has_lock ? memory_.at(put.displacement, 0, 0, put.length) : nullptr;
    if (at != nullptr && !memory_.is_certain()) {
      if (!copies().takes(this, from, put)) copy_held();
      copies().add(this, from, {put, at, data});
      continue;
    }
    ++executed_[put.odd_epoch];
    if (at == nullptr)
      rma::refuse(&outbox(), from, put, has_lock ? Status::out_of_range : Status::lost_lock);
    else
      std::memcpy(at, data, put.length);
  }
}

// Copies

void Exposure::settle() {
  const CheckedCopies& copies = this->copies();
  if (!copies.empty() && copies.exposure() == this && !send_alone()) copy();
}

// Also those of another window, if it has been interrupted.
void Exposure::copy_held() {
  if (!copies().empty()) copies().exposure()->copy();
}

void Exposure::copy() {
  CheckedCopies& copies = this->copies();
  const int from = copies.origin();
  const CheckedCopies::Copy* const put = copies.only(Kind::put);
  if (put != nullptr && net::Detour::can_write(put->memory, put->head.length)) {
    ++executed_[put->head.odd_epoch];
    std::memcpy(put->memory, put->data, put->head.length);
    if (asks_reply(put->head)) outbox().append(from, acknowledgement(put->head));
    return copies.clear();
  }
  copies.execute(&window_->engine().detour(),
                 [&](const Head& head, bool done, const std::byte* fetched) {
                   ++executed_[head.odd_epoch];
                   if (!done) return rma::refuse(&outbox(), from, head, Status::out_of_range);
                   if (head.kind == Kind::get) send_data(from, head, fetched);
                   if (asks_reply(head)) outbox().append(from, acknowledgement(head));
                 });
}

// Replies with memory that may be missing: the system finds out as it takes the data.
bool Exposure::send_unsure(int to, const Head& request, const std::byte* data) {
  Head head = answer(request);
  head.kind = Kind::unsure_data;
  if (!outbox().append_unsure(to, head, {data, request.length})) return false;
  ++executed_[request.odd_epoch];
  return true;
}

// A get that has come alone is answered directly from memory: this saves a system call, and the
// reply would be sent at once anyway.
bool Exposure::send_alone() {
  CheckedCopies& copies = this->copies();
  const CheckedCopies::Copy* const get = copies.only(Kind::get);
  if (get == nullptr || !send_unsure(copies.origin(), get->head, get->memory)) return false;
  copies.clear();
  return true;
}

std::byte* Exposure::place_of_put(int from, const Head& head) const {
  if (waits(from) ||
      check(from, {.head = head, .pieces = {}, .data = {}, .whole = {}}) != Status::ok)
    return nullptr;
  return memory_.at(head.displacement, head.offset, 0, head.length);
}

void Exposure::put_apart(int from, const Head& head, bool in_place) {
  ++executed_[head.odd_epoch];
  if (!in_place) return rma::refuse(&outbox(), from, head, Status::out_of_range);
  if (asks_reply(head)) outbox().append(from, acknowledgement(head));
}

// All of the memory is accessible from the first request until the window closes: all ranks have
// left it by then.
void Exposure::locate(int from, const Head& request) {
  if (without_lock(from)) return rma::refuse(&outbox(), from, request, Status::lost_lock);
  net::DirectMemory* const direct = window_->engine().direct_memory();
  const bool stays =
      direct != nullptr && !memory_.is_dynamic() && (memory_.is_certain() || direct->pins());
  if (stays && memory_.size() > 0 && !std::exchange(rare().tried_to_expose, true))
    rare().exposed = direct->expose(memory_.base(), memory_.size());
  Head reply{.kind = Kind::located, .window = request.window, .token = request.token};
  if (rare_ == nullptr || rare_->exposed == nullptr) {
    outbox().append(from, reply);
    return;
  }
  const net::DirectMemory::Key key = rare_->exposed->key();
  const Piece pieces[] = {{static_cast<int64_t>(key.key), key.address},
                          {memory_.unit(), memory_.size()}};
  reply.has_pieces(std::size(pieces));
  outbox().append(from, reply, pieces);
}

Head Exposure::answer(const Head& request) {
  return {.kind = Kind::data,
          .window = request.window,
          .length = request.length,
          .token = request.token};
}

std::byte* Exposure::reply(int to, const Head& request) {
  return outbox().append(to, answer(request));
}

void Exposure::send_data(int to, const Head& request, const std::byte* data) {
  outbox().append(to, answer(request), {}, {data, request.length});
}

Status Exposure::check(int from, const Message& message) const {
  const Head& head = message.head;
  if (without_lock(from)) return Status::lost_lock;
  const bool may_be_long =
      (head.kind == Kind::put || head.kind == Kind::get) && message.pieces.empty();
  if (head.length > (may_be_long ? most_bytes : net::Detour::bytes)) return Status::bad_operation;
  if (head.kind == Kind::compare_and_swap &&
      (head.length == 0 || head.length > sizeof(uint64_t) * 2 || !message.pieces.empty()))
    return Status::bad_operation;
  return rma::check({head.kind, head.element, head.operation, nullptr, nullptr, 0},
                    [&](auto function) { return each_run(from, message, function); });
}

void Exposure::unlock(int from, const Head& request) {
  if (rare_ != nullptr && rare_->without_lock.erase(from) > 0)
    return rma::refuse(&outbox(), from, request, Status::lost_lock);
  if (locks_ == nullptr || !locks_->release(from))
    return rma::refuse(&outbox(), from, request, Status::not_locked);
  outbox().append(from, acknowledgement(request));
  grant();
}

// What an origin has sent behind its lock may end with the unlock. Then the next origin's turn
// comes in the same loop, without recursion.
void Exposure::grant() {
  if (granting_) return;
  granting_ = true;
  LockQueue queue = window_->queue();
  for (std::optional<int> origin;;) {
    queue.grant([&](size_t who) {
      if (who != queue.owner()) window_->tell_turn(who);
    });
    if (locks_ == nullptr || !(origin = locks_->grant_next())) break;
    take_deferred(*origin);
  }
  if (commons().lock.is_lost()) refuse_lock();
  granting_ = false;
}

void Exposure::refuse_lock() {
  // What an origin has sent behind its lock may include another request for it.
  if (locks_ == nullptr) return;
  for (std::vector<int> origins; !(origins = locks_->give_up()).empty();) {
    for (const int origin : origins) {
      rare().without_lock.insert(origin);
      take_deferred(origin);
    }
  }
}

void Exposure::take_deferred(int origin) {
  if (rare_ == nullptr) return;
  auto held = rare_->deferred.extract(origin);
  if (!held) return;
  const bool all = held.mapped().take_while([&](const Message& message) {
    if (waits(origin)) return false;
    run(origin, message);
    return true;
  });
  settle();
  if (!all) rare_->deferred.insert(std::move(held));
}

void Exposure::refuse(int from, const HeldMessages& messages) {
  BatchReader reader = messages.rest();
  for (Message message; reader.next(&message);) {
    if (!is_token(message.head.kind)) rma::refuse(&outbox(), from, message.head, Status::no_window);
  }
}

void Exposure::refuse_held() {
  if (rare_ == nullptr) return;
  for (const auto& [origin, messages] : std::exchange(rare_->deferred, {}))
    refuse(origin, messages);
}

void Exposure::forget(int peer) {
  if (locks_ != nullptr) locks_->forget(peer);
  if (rare_ != nullptr) {
    rare_->without_lock.erase(peer);
    rare_->layouts.forget(peer);
    rare_->deferred.erase(peer);
  }
  grant();
}

}  // namespace nearcache::rma
