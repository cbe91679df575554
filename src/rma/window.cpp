#include "rma/window.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rma/engine.h"
#include "rma/execute.h"
#include "rma/execute_there.h"

namespace nearcache::rma {

Window::Window(Engine* engine, uint64_t id, Members members, Memory memory, Node* node)
    : engine_(engine),
      id_(id),
      members_(std::move(members)),
      rank_(members_.rank_of(engine->rank())),
      node_(node),
      commons_(make_commons(memory)),
      exposure_(std::move(memory), members_.size(), &engine->outbox(), commons_, queue_of(commons_),
                engine->process(), [this](size_t place) { tell_turn(place); }),
      fence_(rank_, members_.size(),
             [this](int to, uint64_t fence, int round, std::span<const Piece> counts) {
               Head token = head(Kind::fence);
               token.token = fence;
               token.displacement = round;
               token.has_pieces(counts.size());
               engine_->outbox().append(members_.peer(to), token, counts);
             }) {
  list_nears();
}

Window::~Window() {
  if (node_ != nullptr) node_->withdraw(commons_);
}

// Near targets

Commons* Window::make_commons(const Memory& memory) {
  if (node_ != nullptr) return node_->publish(id_, memory);
  private_commons_ = std::make_unique<PrivateCommons>();
  return &private_commons_->commons;
}

void Window::list_nears() {
  std::vector<int> ranks;
  for (int rank = 0; rank < members_.size(); ++rank) {
    if (rank == rank_ || (node_ != nullptr && node_->place_of(members_.peer(rank)) >= 0))
      ranks.push_back(rank);
  }
  near_count_ = ranks.size();
  nears_ = std::make_unique<Near[]>(near_count_);
  for (size_t i = 0; i < near_count_; ++i) {
    Near& near = nears_[i];
    near.rank = ranks[i];
    near.place = node_ != nullptr ? node_->place_of(members_.peer(ranks[i])) : 0;
    if (near.rank != rank_) continue;
    const Memory& own = exposure_.memory();
    near.unit = own.unit();
    near.commons = commons_;
    near.holds = &commons_->of_ranks()[near.place].holds;
    near.reach_memory(own.base(), own.size());
  }
  first_near_ = ranks.front();
  if (ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size()))
    nears_in_row_ = static_cast<unsigned>(ranks.size());
  all_near_ = node_ != nullptr && near_count_ == static_cast<size_t>(members_.size()) &&
              members_.size() <= 1 << Commons::most_rounds;
}

Near* Window::search_near(int rank) {
  Near* const end = nears_.get() + near_count_;
  Near* const found = std::ranges::lower_bound(nears_.get(), end, rank, {}, &Near::rank);
  return found != end && found->rank == rank ? found : nullptr;
}

bool Window::find_nears() {
  bool all = true;
  for (Near& near : nears()) {
    if (near.commons != nullptr) continue;
    Commons* const commons = node_->find(static_cast<size_t>(near.place), id_);
    all = all && commons != nullptr;
    if (commons == nullptr) continue;
    near.commons = commons;
    near.holds = &commons->of_ranks()[node_->own_place()].holds;
    reach(&near);
  }
  return all;
}

size_t Window::reached_nears() {
  return static_cast<size_t>(std::ranges::count_if(
      nears(), [](const Near& near) { return !near.reaches(Near::Reach::messages); }));
}

void Window::reach(Near* near) const {
  // Looked at once: it may not change after it was checked.
  const uint64_t place = near->commons->place, size = near->commons->size;
  const Commons::Where where = near->commons->where;
  near->unit = std::max<int64_t>(near->commons->unit, 1);
  if (where == Commons::Where::arena) {
    const bool held = node_->holds(place, size);
    near->reach_memory(held ? node_->at(place) : nullptr, held ? size : 0);
  } else if (where == Commons::Where::process) {
    const Node::Process process = node_->process(static_cast<size_t>(near->place));
    if (!process.reachable || engine_->is_lost(members_.peer(near->rank))) return;
    near->process = process.number;
    near->reach = Near::Reach::process;
  }
}

// Whether an operation may be executed here: the memory can be reached, no message is under way to
// the target, and this rank has, or gets at once, the lock that it wants. If it does not get it, it
// waits in its queue from now on, if it may.
bool Window::usable(Near* near, Target* to, bool may_wait) {
  if (near->reaches(Near::Reach::messages)) return false;
  if (to != nullptr && to->issued != to->reached) return false;
  const bool wanted = to != nullptr && to->lock == Lock::wanted;
  if (!wanted && (near->locked || !all_locked_ || (to != nullptr && to->lock == Lock::held)))
    return true;
  const LockType type = wanted ? to->type : LockType::shared;
  if (near->queued) return false;
  const bool taken = near->take_lock(type);
  if (!taken && !may_wait) return false;
  if (to != nullptr) to->lock = Lock::none;
  if (taken) return true;
  queue_up(near, type);
  return false;
}

bool Window::ready(int rank) {
  Near* const near = this->near(rank);
  Target* const to = known(rank);
  return near != nullptr && usable(near, to, false) && (to == nullptr || to->error == Status::ok);
}

LockQueue Window::queue_of(Commons* commons) const {
  return LockQueue(commons, node_ != nullptr ? node_->size() : 1, engine_->process());
}

void Window::tell_turn(size_t place) {
  for (Near& near : nears()) {
    if (near.place == static_cast<int>(place) && near.commons != nullptr) near.commons->bell.ring();
  }
}

bool Window::hand_over(const Near& near) {
  bool far = false;
  LockQueue queue = queue_of(near.commons);
  queue.grant([&](size_t who) {
    if (who == queue.owner()) {
      far = true;
    } else {
      tell_turn(who);
    }
  });
  if (!near.commons->lock.is_lost()) return far;
  for (const Near& each : nears()) tell_turn(static_cast<size_t>(each.place));
  return true;
}

void Window::tell_freed(const Near& near) {
  if (near.rank == rank_) {
    exposure_.grant();
  } else {
    engine_->outbox().append(members_.peer(near.rank), head(Kind::lock_freed));
  }
}

// Where the memory of a near target is, in this process or its own.
Memory Window::memory_of(const Near& near) {
  if (near.reaches(Near::Reach::memory)) return Memory::fixed(near.base, near.size, near.unit);
  return Memory::fixed(reinterpret_cast<void*>(near.commons->place), near.commons->size, near.unit);
}

// Calls `run` with each of the runs that a layout names, until it returns false.
template <class Run>
static bool each_run_of(const ElementLayout& layout, uint64_t length, Run run) {
  for (uint64_t element = 0; element < length / layout.size; ++element) {
    for (uint64_t block = 0; block < layout.blocks; ++block) {
      if (!run(layout.run(element, block))) return false;
    }
  }
  return true;
}

Status Window::execute_at(const Transfer& transfer, Near* near, bool* refused) {
  const Memory memory = near->rank == rank_ ? Memory() : memory_of(*near);
  const Memory& there = near->rank == rank_ ? exposure_.memory() : memory;
  const auto each_run = [&](auto function) {
    const auto run = [&](const Piece& piece) {
      std::byte* at = there.at(transfer.displacement, 0, piece.offset, piece.length);
      return at != nullptr && function(at, piece.length);
    };
    if (transfer.layout.size > 0) return each_run_of(transfer.layout, transfer.length, run);
    if (transfer.pieces.empty()) return run({0, transfer.length});
    return std::ranges::all_of(transfer.pieces, run);
  };
  const Action action{transfer.kind, transfer.element, transfer.operation, transfer.data,
                      transfer.result};
  if (const Status status = check(action, each_run); status != Status::ok) return status;
  Mutex* const elements = &near->commons->elements;
  if (near->reaches(Near::Reach::memory)) {
    execute(action, elements, engine_->process(), each_run);
    return Status::ok;
  }
  const net::Reached reached =
      execute_there(action, near->process, transfer.length, elements, engine_->process(), each_run);
  *refused = reached == net::Reached::refused;
  if (reached != net::Reached::gone)
    return reached == net::Reached::unmapped ? Status::out_of_range : Status::ok;
  engine_->ended(members_.peer(near->rank));
  return Status::lost_peer;
}

// False if the memory cannot be reached any more: then operations go by messages.
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
      execute_near(transfer, near))
    return true;
  if (Near* const near = this->near(transfer->target); near != nullptr && near->queued) {
    if (crowded(transfer->target)) return false;
    return defer(transfer, near), true;
  }
  Target& to = target(transfer->target);
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
  if (Near* const near = this->near(rank); near != nullptr && near->queued)
    return to == nullptr || to->issued == to->reached ? defer(near, false) : to->issued;
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
  if (to.reached != to.issued) return;
  if (Near* const near = this->near(pending.target); near != nullptr && near->frees)
    free_lock(near);
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
  const Near* const near = this->near(rank);
  const bool has = near != nullptr && near->locked;
  if (all_locked_ && to->lock == Lock::none && !has)
    to->lock = Lock::wanted, to->type = LockType::shared;
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

Mark Window::lock_now(int rank) {
  if (Near* const near = this->near(rank); near != nullptr) {
    if (usable(near, known(rank), true)) return 0;
    if (near->queued) return defer(near, false);
  }
  Target& to = target(rank);
  take_lock(rank, &to);
  if (to.lock != Lock::held) return 0;
  ask(rank, &to, Kind::acknowledge);
  return to.issued;
}

Mark Window::unlock(int rank) {
  if (Near* const near = this->near(rank); near != nullptr) {
    if (near->queued) return defer(near, true);
    if (near->locked) give_back_lock(near);
  }
  Target* const to = known(rank);
  if (to == nullptr) return 0;
  if (std::exchange(to->lock, Lock::none) != Lock::held) return flush(rank);
  if (engine_->is_lost(members_.peer(rank))) return 0;
  ask(rank, to, Kind::unlock);
  return to->issued;
}

void Window::lock_all(bool no_check) { all_locked_ = !no_check; }

void Window::unlock_all() {
  all_locked_ = false;
  for (Near& near : nears()) {
    if (near.locked) give_back_lock(&near);
    if (near.queued) defer(&near, true);
  }
  for (const auto& [rank, to] : targets_) {
    if (!queued(rank)) unlock(rank);
  }
}

// A lock that was taken by its word: at once, unless something that was issued under it went by
// messages, as its memory could not be reached any more.
void Window::give_back_lock(Near* near) {
  const Target* const to = known(near->rank);
  near->frees = to != nullptr && to->issued != to->reached;
  if (!near->frees) free_lock(near);
}

void Window::free_lock(Near* near) {
  near->frees = false;
  if (near->give_back_lock() && hand_over(*near)) tell_freed(*near);
}

// What waits for a lock by words

void Window::queue_up(Near* near, LockType type) {
  near->type = type;
  near->queued = true;
  queue_of(near->commons).enter(own_place(), type);
  if (hand_over(*near)) tell_freed(*near);
  engine_->expect_turns(this);
}

bool Window::queued(int rank) {
  const Near* const near = this->near(rank);
  return near != nullptr && near->queued;
}

bool Window::has_turn(int rank) {
  const Near* const near = this->near(rank);
  return !near->queued || !queue_of(near->commons).waits(own_place()) ||
         near->commons->lock.is_lost();
}

void Window::defer(Transfer* transfer, Near* near) {
  Deferred& kept = deferred_[near->rank].emplace_back();
  kept.transfer = *transfer;
  if (transfer->layout.size > 0) {
    each_run_of(transfer->layout, transfer->length,
                [&](const Piece& piece) { return kept.pieces.push_back(piece), true; });
  } else {
    kept.pieces.assign(transfer->pieces.begin(), transfer->pieces.end());
  }
  kept.transfer.layout = {};
  Head like{.kind = transfer->kind, .operation = transfer->operation};
  like.length = transfer->length;
  if (const uint64_t bytes = data_bytes(like); bytes > 0)
    kept.data.assign(transfer->data, transfer->data + bytes);
  Target& to = target(near->rank);
  kept.mark = ++to.issued;
  to.answered = to.issued;  // nobody need be asked
  to.bytes += transfer->length + kept.pieces.size() * sizeof(Piece) + sizeof kept;
  to.bytes_asked = to.bytes;
  if (transfer->kind != Kind::put && transfer->kind != Kind::accumulate) to.fetching = to.issued;
  transfer->done = transfer->length;
}

Mark Window::defer(Near* near, bool unlock) {
  Target& to = target(near->rank);
  Deferred& kept = deferred_[near->rank].emplace_back();
  kept.unlock = unlock;
  kept.mark = to.answered = ++to.issued;
  return kept.mark;
}

bool Window::take_turns() {
  bool any = false, more = false;
  for (Near& near : nears()) {
    if (!near.queued) continue;
    if (!has_turn(near.rank)) {
      more = true;
      continue;
    }
    any = true;
    const bool lost = near.commons->lock.is_lost() && queue_of(near.commons).leave(own_place());
    if (!lost) near.lock_taken(near.type);
    near.queued = false;
    if (lost) {
      refuse_deferred(&near);
    } else {
      do_deferred(&near);
    }
  }
  if (more) engine_->expect_turns(this);
  return any;
}

// Where the memory cannot be reached any more, the rest goes by messages.
void Window::do_deferred(Near* near) {
  std::vector<Deferred> all = std::exchange(deferred_[near->rank], {});
  deferred_.erase(near->rank);
  Target& to = target(near->rank);
  const int peer = members_.peer(near->rank);
  bool sent = false;
  for (Deferred& each : all) {
    if (each.unlock) {
      near->frees = sent;
      if (!sent) free_lock(near);
    } else if (each.transfer.kind == Kind::acknowledge) {
      continue;
    } else if (engine_->is_lost(peer)) {
      end_deferred(each, Status::lost_peer);
    } else {
      each.transfer.pieces = each.pieces;
      each.transfer.data = each.data.data();
      each.transfer.done = 0;
      sent = sent || near->reaches(Near::Reach::messages) || !execute_near(&each.transfer, near);
      while (each.transfer.done < each.transfer.length) issue_part(&each.transfer, &to);
    }
  }
  if (sent) return ask(near->rank, &to, Kind::acknowledge);
  to.reached = to.issued;
  to.bytes_reached = to.bytes;
}

// The lock is lost. Until the program unlocks, what it asks for is refused in the same way.
void Window::refuse_deferred(Near* near) {
  bool unlocked = false;
  for (const Deferred& each : std::exchange(deferred_[near->rank], {})) {
    unlocked = unlocked || each.unlock;
    end_deferred(each, Status::lost_lock);
  }
  deferred_.erase(near->rank);
  Target& to = target(near->rank);
  if (!unlocked && !all_locked_) to.lock = Lock::wanted, to.type = near->type;
  if (to.error == Status::ok) to.error = Status::lost_lock;
  to.reached = to.issued;
  to.bytes_reached = to.bytes;
}

void Window::end_deferred(const Deferred& deferred, Status status) {
  const Completion& completion = deferred.transfer.completion;
  if (completion.call != nullptr) completion.call(completion.context, status);
}

// Active target

void Window::fence_enter() {
  if (all_near_) return near_fence_.enter(this);
  std::vector<Piece> counts;
  for (auto& [rank, to] : targets_) {
    const uint64_t operations = std::exchange(to.operations, 0);
    if (operations > 0) counts.push_back({rank, operations});
  }
  fence_.enter(counts);
  say_over();
}

bool Window::fence_met() { return all_near_ ? near_fence_.met(this) : messages_met(); }

// Who shares this memory may use it now as after the fence.
void Window::say_over() {
  if (node_ == nullptr || all_near_ || !messages_met() ||
      commons_->fences_over.load(std::memory_order_relaxed) == fence_.entered())
    return;
  commons_->fences_over.store(fence_.entered(), std::memory_order_release);
  commons_->over.ring();
}

bool Window::messages_met() const {
  return fence_.met() && exposure_.executed(!fence_.odd()) >= fence_.expected();
}

void Window::post(std::span<const int> origins) {
  if (all_near_) {
    for (const int rank : origins) {
      Commons& to = *near(rank)->commons;
      to.of_ranks()[own().place].posts.fetch_add(1, std::memory_order_release);
      to.bell.ring();
    }
    return;
  }
  for (const int rank : origins) engine_->outbox().append(members_.peer(rank), head(Kind::post));
}

bool Window::started(std::span<const int> targets) {
  if (all_near_) {
    const auto posted = [&](int rank) {
      const Near& target = *near(rank);
      const std::atomic<uint32_t>& posts = commons_->of_ranks()[target.place].posts;
      return posts.load(std::memory_order_acquire) != target.started;
    };
    if (!std::ranges::all_of(targets, posted)) return false;
    for (const int rank : targets) ++near(rank)->started;
    return true;
  }
  if (!std::ranges::all_of(targets, [&](int rank) { return posts_.contains(rank); })) return false;
  for (const int rank : targets) {
    const auto found = posts_.find(rank);
    if (--found->second == 0) posts_.erase(found);
  }
  return true;
}

void Window::complete(std::span<const int> targets) {
  if (all_near_) {
    for (const int rank : targets) {
      Commons& to = *near(rank)->commons;
      to.completed.fetch_add(1, std::memory_order_release);
      to.bell.ring();
    }
    return;
  }
  for (const int rank : targets)
    engine_->outbox().append(members_.peer(rank), head(Kind::complete));
}

bool Window::completed_by(size_t origins) {
  if (all_near_) {
    if (commons_->completed.load(std::memory_order_acquire) - completed_ < origins) return false;
    completed_ += origins;
    return true;
  }
  if (exposure_.completed() < origins) return false;
  exposure_.waited_for(origins);
  return true;
}

// A rank that has left a fence may not see memory as it is before what others sent until then is
// executed: its requests wait for the end of that fence here, which needs nothing of this rank's
// program any more.
bool Window::take(int peer, const Message& message) {
  const bool ahead =
      is_operation(message.head.kind) && message.head.odd_epoch == fence_.odd() && !messages_met();
  if (ahead || (!ahead_.empty() && ahead_.contains(peer))) return ahead_[peer].hold(message.whole);
  if (!exposure_.take(peer, message)) return false;
  take_ahead();
  return true;
}

void Window::take_ahead() {
  say_over();
  if (ahead_.empty() || !messages_met()) return;
  for (const auto& [peer, messages] : std::exchange(ahead_, {})) {
    BatchReader reader(messages.bytes());
    for (Message message; reader.next(&message);) exposure_.take(peer, message);
    exposure_.settle();
  }
}

void Window::settle() {
  exposure_.settle();
  take_ahead();
}

bool Window::take_token(int peer, const Message& message) {
  const int rank = members_.rank_of(peer);
  if (rank < 0) return false;
  if (message.head.kind == Kind::lock_freed) {
    exposure_.grant();
  } else if (message.head.kind == Kind::post) {
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
  if (Near* const near = this->near(rank); near != nullptr) {
    near->open = Near::Open::no;
    near->reach = Near::Reach::messages;
    if (near->frees) free_lock(near);
    if (near->queued.exchange(false)) {
      if (!queue_of(near->commons).leave(own_place())) near->commons->lock.release(near->type);
      near->holds->store(Held::no);
      if (hand_over(*near)) tell_freed(*near);
    }
    for (const Deferred& each : std::exchange(deferred_[rank], {}))
      end_deferred(each, Status::lost_peer);
    deferred_.erase(rank);
  }
  const auto found = targets_.find(rank);
  if (found == targets_.end()) return;
  Target& to = found->second;
  if (to.reached != to.issued && to.error == Status::ok) to.error = Status::lost_peer;
  to.reached = to.answered = to.issued;
  to.bytes_reached = to.bytes;
  to.lock = Lock::none;
}

// Whoever of the node is the first to know gives them back. The dead may also have granted the
// owner's turn and not told it.
void Window::ended(int peer) {
  if (node_ == nullptr) return;
  const int place = node_->place_of(peer);
  if (place < 0) return;
  for (const Near& near : nears()) {
    if (near.commons == nullptr) continue;
    queue_of(near.commons).leave(static_cast<size_t>(place));
    const Held held = near.commons->of_ranks()[place].holds.exchange(Held::no);
    const LockType type = held == Held::shared ? LockType::shared : LockType::exclusive;
    if (held == Held::unsure) {
      near.commons->lock.lose();
    } else if (held != Held::no) {
      near.commons->lock.release(type);
    }
    if (hand_over(near) || near.rank == rank_) tell_freed(near);
  }
}

}  // namespace nearcache::rma
