// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window.h"

#include <algorithm>
#include <utility>

#include "rma/engine.h"

namespace nearcache::rma {

Window::Window(Engine* engine, uint64_t id, Members members, Memory memory, Node* node)
    : engine_(engine),
      id_(id),
      members_(std::move(members)),
      node_(node),
      rank_(members_.rank_of(engine->rank())),
      commons_(make_commons(memory)),
      exposure_(this, std::move(memory)),
      fence_(rank_, members_.size()) {
  list_nears();
}

Window::~Window() {
  if (node_ == nullptr) return;
  node_->withdraw(commons_);
  delete[] nears_;
}

// Near targets

Commons* Window::make_commons(const Memory& memory) {
  if (node_ != nullptr) return node_->publish(id_, memory);
  alone_ = std::make_unique<Alone>();
  return &alone_->commons;
}

void Window::list_nears() {
  std::vector<int> ranks;
  for (int rank = 0; rank < members_.size(); ++rank) {
    if (rank == rank_ || (node_ != nullptr && node_->place_of(members_.peer(rank)) >= 0))
      ranks.push_back(rank);
  }
  near_count_ = static_cast<uint32_t>(ranks.size());
  nears_ = node_ != nullptr ? new Near[near_count_] : &alone_->near;
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
    nears_in_row_ = near_count_;
  all_near_ = node_ != nullptr && near_count_ == static_cast<uint32_t>(members_.size());
}

Near* Window::search_near(int rank) {
  Near* const end = nears_ + near_count_;
  Near* const found = std::ranges::lower_bound(nears_, end, rank, {}, &Near::rank);
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
  // Read once: the values must not change after they were checked.
  const uint64_t place = near->commons->place, size = near->commons->size;
  const Commons::Where where = near->commons->where;
  near->unit = std::max<int64_t>(near->commons->unit, 1);
  if (engine_->is_lost(members_.peer(near->rank))) return;
  if (where == Commons::Where::arena) {
    const bool held = node_->holds(place, size);
    if (held && !node_->open_up(place, size)) return;
    near->reach_memory(held ? node_->at(place) : nullptr, held ? size : 0);
  } else if (where == Commons::Where::process) {
    const Node::Process process = node_->process(static_cast<size_t>(near->place));
    if (!process.reachable) return;
    near->process = process.number;
    near->reach = Near::Reach::process;
  }
}

Window::Target& Window::target(int rank) {
  if (Target* found = known(rank)) return *found;
  return *(recent_ = &targets_[rank]);
}

Window::Target* Window::known(int rank) const {
  if (recent_ != nullptr && recent_->rank == rank) return recent_;
  Target* const found = targets_.find(rank);
  return found == nullptr ? nullptr : recent_ = found;
}

void Window::begin_traffic(Target* to) {
  to->traffic = engine_->spare_traffic().take(highest_number_);
}

// Not if the network does operations without the target: how much was issued to it decides when to
// begin with that. Nor of a lost target, as the loss may be noticed while something is being sent.
void Window::forget_traffic(Target* to) {
  if (to->traffic == nullptr || !to->quiet() || !to->traffic->layouts.empty() ||
      engine_->direct_memory() != nullptr || engine_->is_lost(members_.peer(to->rank)))
    return;
  highest_number_ = std::max(highest_number_, to->traffic->issued);
  engine_->spare_traffic().give_back(std::move(to->traffic));
}

void Window::all_is_reached(Target* to) {
  if (to->traffic == nullptr) return;
  to->traffic->reached = to->traffic->answered = to->traffic->issued;
  to->traffic->bytes_reached = to->traffic->bytes;
  forget_traffic(to);
}

// Completion

uint64_t Window::expect_reply(int rank, Traffic* traffic, Pending pending) {
  pending.window = this;
  pending.target = rank;
  pending.peer = members_.peer(rank);
  pending.sequence = traffic->issued;
  pending.before = traffic->answered;
  pending.bytes = traffic->bytes;
  traffic->answered = traffic->issued;
  traffic->bytes_asked = traffic->bytes;
  return engine_->pending().add(pending);
}

// Sends a message that is answered when everything before it is executed.
void Window::ask(int rank, Traffic* traffic, Kind kind) {
  ++traffic->issued;
  Head message = head(kind);
  message.token = expect_reply(rank, traffic, {});
  engine_->outbox().append(members_.peer(rank), message);
}

Mark Window::flush(int rank) {
  Target* to = known(rank);
  if (Near* const near = this->near(rank); near != nullptr && near->queued)
    return to == nullptr || to->quiet() ? defer(near, false) : to->traffic->issued;
  if (to == nullptr) return 0;
  to->has_asked = false;
  Traffic* const traffic = to->traffic.get();
  if (traffic == nullptr) return to->lock == Lock::wanted ? lock_now(rank) : 0;
  const uint64_t transfers = traffic->direct != nullptr ? traffic->direct->begun : 0;
  if (to->lock == Lock::wanted) return {lock_now(rank).messages, transfers};
  if (to->quiet()) return {0, transfers};
  if (traffic->answered != traffic->issued) ask(rank, traffic, Kind::acknowledge);
  return {traffic->issued, transfers};
}

Mark Window::flush_local(int rank) {
  const Target* to = known(rank);
  if (to == nullptr) return 0;
  const Traffic* const traffic = to->traffic.get();
  if (traffic == nullptr || traffic->reached >= traffic->fetching)
    engine_->outbox().push(members_.peer(rank));
  if (traffic == nullptr) return 0;
  return {traffic->fetching, traffic->direct != nullptr ? traffic->direct->fetching : 0};
}

bool Window::reached(int rank, Mark mark) const {
  if (mark == 0) return true;
  const Target* to = known(rank);
  if (to == nullptr || to->traffic == nullptr) return true;
  const Traffic& traffic = *to->traffic;
  const bool late = mark.messages > 0 && mark.messages <= traffic.deferred;
  const uint64_t last = late ? traffic.deferred_end : mark.messages;
  return traffic.reached >= last &&
         (traffic.direct == nullptr || traffic.direct->done >= mark.transfers);
}

void Window::flush_all() {
  targets_.each([&](const Target& to) {
    if (!to.awaited) flush(to.rank);
  });
}

// What other threads issue in the meantime is not answered unless somebody asks for it.
bool Window::all_reached() const {
  return transferred() && targets_.all_of([](const Target& to) {
    return to.awaited || to.traffic == nullptr || to.traffic->reached >= to.traffic->answered;
  });
}

bool Window::all_landed() const {
  return transferred() && targets_.all_of([](const Target& to) {
    return to.traffic == nullptr || to.traffic->reached >= to.traffic->fetching;
  });
}

// A reply says that everything before it is executed and answered, so one that overtakes another
// would have buffers given back in which the other's data is still to be written.
bool Window::is_due(const Pending& pending) const {
  const Target* const to = known(pending.target);
  return to == nullptr || to->traffic == nullptr || to->traffic->reached >= pending.before;
}

void Window::answered(const Pending& pending, Status status) {
  Target& to = target(pending.target);
  if (status != Status::ok && to.error == Status::ok) to.error = status;
  if (pending.by == Pending::By::transfer) {
    to.direct()->done = std::max(to.direct()->done, pending.sequence);
    --transfers_;
    return;
  }
  if (status == Status::lost_lock) to.refused = true;
  if (to.traffic == nullptr) return;  // everything is known to be executed
  Traffic& traffic = *to.traffic;
  traffic.reached = std::max(traffic.reached, pending.sequence);
  traffic.bytes_reached = std::max(traffic.bytes_reached, pending.bytes);
  if (!to.quiet()) return;
  forget_traffic(&to);
  if (Near* const near = this->near(pending.target); near != nullptr && near->frees)
    free_lock(near);
}

void Window::failed(int peer, Status status) {
  const int rank = members_.rank_of(peer);
  if (rank < 0) return;
  Target& to = target(rank);
  if (to.error == Status::ok) to.error = status;
  if (status == Status::lost_lock) to.refused = true;
}

Status Window::take_error(int rank) {
  Target* to = known(rank);
  return to == nullptr ? Status::ok : std::exchange(to->error, Status::ok);
}

Status Window::take_error() {
  Status first = broken_ ? Status::lost_peer : Status::ok;
  targets_.each([&](Target& to) {
    const Status error = std::exchange(to.error, Status::ok);
    if (first == Status::ok) first = error;
  });
  return first;
}

// The end of other ranks

void Window::lost(int peer) {
  exposure_.forget(peer);
  if (rare_ != nullptr) {
    rare_->before_post.erase(peer), rare_->after_fence.erase(peer);
    rare_->refused.erase(peer);
  }
  const int rank = members_.rank_of(peer);
  if (rank < 0) return;
  const bool in_fence = !messages_met();
  break_off(rank);
  if (in_fence) tell_broken();
  if (Near* const near = this->near(rank); near != nullptr) {
    near->open = Near::Open::no;
    near->reach = Near::Reach::messages;
    if (near->frees) free_lock(near);
    if (near->queued.exchange(false)) {
      if (!queue_of(near->commons).leave(own_place())) near->commons->lock.release(near->type);
      near->holds->store(Held::no);
      if (hand_over(*near)) tell_freed(*near);
    }
    for (const Deferred& each : take_deferred(rank)) end_deferred(each, Status::lost_peer);
  }
  Target* const to = known(rank);
  if (to == nullptr) return;
  if (!to->quiet() && to->error == Status::ok) to->error = Status::lost_peer;
  if (std::exchange(to->lock, Lock::none) == Lock::held) --far_locks_;
  all_is_reached(to);
}

// What waits for all members waits no longer.
void Window::break_off(int gone) {
  if (!broken_) gone_ = gone;
  broken_ = true;
  take_ahead();
}

// The first rank of the node to know releases the locks. The dead process may also have granted the
// owner's turn without telling it.
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
