#include "rma/window.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rma/engine.h"

namespace nearcache::rma {

Window::Window(Engine* engine, uint64_t id, Members members, Memory memory)
    : engine_(engine),
      id_(id),
      members_(std::move(members)),
      rank_(members_.rank_of(engine->rank())),
      exposure_(std::move(memory), members_.size(), &engine->outbox()),
      fence_(rank_, members_.size(),
             [this](int to, uint64_t fence, int round, std::span<const Piece> counts) {
               Head token = head(Kind::fence);
               token.token = fence;
               token.displacement = round;
               token.has_pieces(counts.size());
               engine_->outbox().append(members_.peer(to), token, counts);
             }) {}

Window::Target& Window::target(int rank) {
  if (Target* found = known(rank)) return *found;
  recent_rank_ = rank;
  return *(recent_ = &targets_[rank]);
}

Window::Target* Window::known(int rank) const {
  if (rank == recent_rank_) return recent_;
  const auto found = targets_.find(rank);
  if (found == targets_.end()) return nullptr;
  recent_rank_ = rank;
  return recent_ = &found->second;
}

// Operations

bool Window::issue(Transfer* transfer) {
  Target& to = target(transfer->target);
  if (engine_->is_lost(members_.peer(transfer->target))) {
    to.error = Status::lost_peer;
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
  take_lock(transfer->target, &to);
  use_layout(transfer, &to);
  while (transfer->sent != nullptr && transfer->sent->told < transfer->layout.blocks) {
    if (crowded(transfer->target)) return flush(transfer->target), false;
    tell_layout(*transfer, &to);
  }
  while (transfer->done < transfer->length) {
    if (crowded(transfer->target)) return flush(transfer->target), false;
    issue_part(transfer, &to);
  }
  if (transfer->sent != nullptr) --transfer->sent->users;
  return true;
}

void Window::use_layout(Transfer* transfer, Target* to) {
  const ElementLayout& layout = transfer->layout;
  if (transfer->sent != nullptr || transfer->done > 0 || layout.size == 0 ||
      transfer->length / layout.size * layout.blocks < least_runs)
    return;
  std::vector<uint64_t> unused;
  transfer->sent = to->layouts.use(layout, layout_share(members_.size()), &unused);
  for (const uint64_t number : unused) {
    Head message = head(Kind::take_back_layout);
    message.token = number;
    engine_->outbox().append(members_.peer(transfer->target), message);
  }
}

void Window::tell_layout(const Transfer& transfer, Target* to) {
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
  ++to->issued;
  to->bytes += sizeof message + blocks.size() * sizeof(Piece);
}

void Window::issue_part(Transfer* transfer, Target* to) {
  const bool fetches = transfer->kind != Kind::put && transfer->kind != Kind::accumulate;
  const size_t size = size_of(transfer->element);
  uint64_t bytes = std::min(transfer->length - transfer->done, part / size * size);
  Head message = head(transfer->kind);
  std::vector<Piece> pieces;
  if (transfer->sent != nullptr) {
    message.by_layout = 1;
    pieces = {{static_cast<int64_t>(transfer->layout.number), transfer->done}};
  } else if (transfer->pieces.empty() && transfer->layout.size == 0) {
    message.offset = transfer->done;
  } else {
    pieces = next_pieces(transfer, part / size * size, &bytes);
  }
  message.element = transfer->element;
  message.operation = transfer->operation;
  message.odd_epoch = fence_.odd();
  message.has_pieces(pieces.size());
  message.displacement = transfer->displacement;
  message.length = bytes;
  ++to->issued;
  ++to->operations;
  to->bytes += bytes + sizeof message + pieces.size() * sizeof(Piece);
  if (fetches) {
    Pending pending;
    pending.to = transfer->result + transfer->done;
    pending.length = bytes;
    // replies come in order
    if (transfer->done + bytes == transfer->length) pending.completion = transfer->completion;
    message.token = expect_reply(transfer->target, to, pending);
    to->fetching = to->issued;
  }
  std::byte* data = engine_->outbox().append(members_.peer(transfer->target), message, pieces);
  if (const uint64_t sent = data_bytes(message); sent > 0)
    std::memcpy(data, transfer->data + transfer->done, sent);
  transfer->done += bytes;
  if (!fetches && to->bytes - to->bytes_asked > ask_after)
    ask(transfer->target, to, Kind::acknowledge);
}

std::vector<Piece> Window::next_pieces(Transfer* transfer, uint64_t most, uint64_t* bytes) const {
  const ElementLayout& layout = transfer->layout;
  std::vector<Piece> pieces;
  *bytes = 0;
  while (transfer->done + *bytes < transfer->length && *bytes < most &&
         pieces.size() < most_pieces) {
    const Piece whole = layout.size > 0 ? layout.run(transfer->which_element, transfer->piece)
                                        : transfer->pieces[transfer->piece];
    const uint64_t length = std::min(whole.length - transfer->of_piece, most - *bytes);
    pieces.push_back({whole.offset + static_cast<int64_t>(transfer->of_piece), length});
    *bytes += length;
    transfer->of_piece += length;
    if (transfer->of_piece < whole.length) continue;
    transfer->of_piece = 0;
    if (++transfer->piece == layout.blocks) transfer->piece = 0, ++transfer->which_element;
  }
  return pieces;
}

bool Window::crowded(int rank) const {
  const Target* to = known(rank);
  return to != nullptr && to->bytes - to->bytes_reached > most_outstanding;
}

// Completion

uint64_t Window::expect_reply(int rank, Target* to, Pending pending) {
  pending.window = this;
  pending.target = rank;
  pending.peer = members_.peer(rank);
  pending.sequence = to->issued;
  pending.bytes = to->bytes;
  to->answered = to->issued;
  to->bytes_asked = to->bytes;
  return engine_->pending().add(pending);
}

// A message that is answered when all before it is executed.
void Window::ask(int rank, Target* to, Kind kind) {
  ++to->issued;
  Head message = head(kind);
  message.token = expect_reply(rank, to, {});
  engine_->outbox().append(members_.peer(rank), message);
}

Mark Window::flush(int rank) {
  Target* to = known(rank);
  if (to == nullptr) return 0;
  if (to->lock == Lock::wanted) return lock_now(rank);
  if (to->issued == to->reached) return 0;
  if (to->answered != to->issued) ask(rank, to, Kind::acknowledge);
  return to->issued;
}

Mark Window::flush_local(int rank) {
  const Target* to = known(rank);
  if (to == nullptr) return 0;
  if (to->reached >= to->fetching) engine_->outbox().push(members_.peer(rank));
  return to->fetching;
}

bool Window::reached(int rank, Mark mark) const {
  if (mark == 0) return true;
  const Target* to = known(rank);
  return to == nullptr || to->reached >= mark;
}

void Window::flush_all() {
  for (const auto& [rank, to] : targets_) flush(rank);
}

bool Window::all_reached() const {
  return std::ranges::all_of(
      targets_, [](const auto& each) { return each.second.reached == each.second.issued; });
}

bool Window::all_landed() const {
  return std::ranges::all_of(
      targets_, [](const auto& each) { return each.second.reached >= each.second.fetching; });
}

void Window::answered(const Pending& pending, Status status) {
  Target& to = target(pending.target);
  if (status != Status::ok && to.error == Status::ok) to.error = status;
  to.reached = std::max(to.reached, pending.sequence);
  to.bytes_reached = std::max(to.bytes_reached, pending.bytes);
}

void Window::failed(int peer, Status status) {
  const int rank = members_.rank_of(peer);
  if (rank >= 0 && target(rank).error == Status::ok) target(rank).error = status;
}

Status Window::take_error(int rank) {
  Target* to = known(rank);
  return to == nullptr ? Status::ok : std::exchange(to->error, Status::ok);
}

Status Window::take_error() {
  Status first = broken_ ? Status::lost_peer : Status::ok;
  for (auto& [rank, to] : targets_) {
    const Status error = std::exchange(to.error, Status::ok);
    if (first == Status::ok) first = error;
  }
  return first;
}

// Locks

void Window::take_lock(int rank, Target* to) {
  if (all_locked_ && to->lock == Lock::none) to->lock = Lock::wanted, to->type = LockType::shared;
  if (to->lock != Lock::wanted) return;
  to->lock = Lock::held;
  engine_->outbox().append(
      members_.peer(rank),
      head(to->type == LockType::exclusive ? Kind::lock_exclusive : Kind::lock_shared));
}

void Window::lock(int rank, LockType type, bool no_check) {
  if (no_check) return;
  target(rank).lock = Lock::wanted;
  target(rank).type = type;
}

// The lock of the own rank needs no message where it is free and none is under way.
bool Window::lock_own(Target* to) {
  if (all_locked_ && to->lock == Lock::none) to->lock = Lock::wanted, to->type = LockType::shared;
  if (to->lock != Lock::wanted || to->issued != to->reached ||
      !exposure_.lock_here(engine_->rank(), to->type))
    return false;
  to->lock = Lock::held;
  return true;
}

Mark Window::lock_now(int rank) {
  Target& to = target(rank);
  if (rank == rank_ && lock_own(&to)) return 0;
  take_lock(rank, &to);
  if (to.lock != Lock::held) return 0;
  ask(rank, &to, Kind::acknowledge);
  return to.issued;
}

Mark Window::unlock(int rank) {
  Target& to = target(rank);
  if (std::exchange(to.lock, Lock::none) != Lock::held) return flush(rank);
  if (engine_->is_lost(members_.peer(rank))) return 0;
  if (rank == rank_ && to.issued == to.reached) return exposure_.unlock_here(engine_->rank()), 0;
  ask(rank, &to, Kind::unlock);
  return to.issued;
}

void Window::lock_all(bool no_check) { all_locked_ = !no_check; }

void Window::unlock_all() {
  all_locked_ = false;
  for (const auto& [rank, to] : targets_) unlock(rank);
}

// Active target

void Window::fence_enter() {
  std::vector<Piece> counts;
  for (auto& [rank, to] : targets_) {
    const uint64_t operations = std::exchange(to.operations, 0);
    if (operations > 0) counts.push_back({rank, operations});
  }
  fence_.enter(counts);
}

bool Window::fence_met() const {
  return fence_.met() && exposure_.executed(!fence_.odd()) >= fence_.expected();
}

void Window::post(std::span<const int> origins) {
  for (const int rank : origins) engine_->outbox().append(members_.peer(rank), head(Kind::post));
}

bool Window::started(std::span<const int> targets) {
  if (!std::ranges::all_of(targets, [&](int rank) { return posts_.contains(rank); })) return false;
  for (const int rank : targets) {
    const auto found = posts_.find(rank);
    if (--found->second == 0) posts_.erase(found);
  }
  return true;
}

void Window::complete(std::span<const int> targets) {
  for (const int rank : targets)
    engine_->outbox().append(members_.peer(rank), head(Kind::complete));
}

bool Window::completed_by(size_t origins) {
  if (exposure_.completed() < origins) return false;
  exposure_.waited_for(origins);
  return true;
}

// A rank that has left a fence may not see memory as it is before what others sent until then is
// executed: its requests wait for the end of that fence here, which needs nothing of this rank's
// program any more.
bool Window::take(int peer, const Message& message) {
  const bool ahead =
      is_operation(message.head.kind) && message.head.odd_epoch == fence_.odd() && !fence_met();
  if (ahead || (!ahead_.empty() && ahead_.contains(peer))) return ahead_[peer].hold(message.whole);
  if (!exposure_.take(peer, message)) return false;
  take_ahead();
  return true;
}

void Window::take_ahead() {
  if (ahead_.empty() || !fence_met()) return;
  for (const auto& [peer, messages] : std::exchange(ahead_, {})) {
    BatchReader reader(messages.bytes());
    for (Message message; reader.next(&message);) exposure_.take(peer, message);
  }
}

bool Window::take_token(int peer, const Message& message) {
  const int rank = members_.rank_of(peer);
  if (rank < 0) return false;
  if (message.head.kind == Kind::post) {
    ++posts_[rank];
  } else if (!fence_.arrived(message.head.token, message.head.displacement, message.pieces)) {
    return false;
  }
  take_ahead();
  return true;
}

void Window::lost(int peer) {
  exposure_.forget(peer);
  ahead_.erase(peer);
  take_ahead();
  const int rank = members_.rank_of(peer);
  if (rank < 0) return;
  broken_ = true;
  const auto found = targets_.find(rank);
  if (found == targets_.end()) return;
  Target& to = found->second;
  if (to.reached != to.issued && to.error == Status::ok) to.error = Status::lost_peer;
  to.reached = to.answered = to.issued;
  to.bytes_reached = to.bytes;
  to.lock = Lock::none;
}

}  // namespace nearcache::rma
