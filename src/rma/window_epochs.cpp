// SPDX-License-Identifier: BSD-3-Clause

// Active-target epochs: fence, post, start, complete and wait. Also requests that come too early
// and wait here: after a fence until it is over, and in an access epoch until this rank has posted.
//
// An origin does not wait for the posts of far targets, which therefore send none. It marks the
// beginning of its epoch in the messages to each of them (Kind::start), and sends all of the epoch
// in one batch. So an exchange of small puts takes one message each way, half as long as if a post
// had to come first. A near target's memory is used directly, so its post is waited for.
#include <algorithm>
#include <utility>

#include "rma/engine.h"
#include "rma/window.h"

namespace nearcache::rma {

// No rank may be more than one fence ahead of others, even if the last one did not end because a
// member was lost: others may not know that yet.
void Window::fence_enter() {
  if (all_near_) return near_fence_.enter(this);
  if (broken_) tell_broken();
  if (broken_ && !fence_.met()) return;
  std::vector<Piece> counts;
  targets_.each([&](Target& to) {
    const uint64_t operations = std::exchange(to.operations, 0);
    if (operations > 0) counts.push_back({to.rank, operations});
  });
  // nothing may ever be sent to these
  fence_.each_awaited([&](int rank) { engine_->fabric().watch_peer(members_.peer(rank)); });
  fence_.enter(counts, send_token());
  say_over();
}

// Only those that await a token of a lost member, or send it theirs, notice that it is gone. Others
// may be waiting for tokens that these will never send, and are told. Each rank passes it on once,
// so all learn it that are still there.
void Window::tell_broken() {
  if (std::exchange(told_broken_, true)) return;
  Head token = head(Kind::broken);
  token.displacement = gone_;
  fence_.each_next([&](int rank) {
    const int peer = members_.peer(rank);
    if (!engine_->is_lost(peer)) engine_->outbox().append(peer, token);
  });
}

Fence::Send Window::send_token() {
  return [this](int to, uint64_t fence, int round, std::span<const Piece> counts) {
    Head token = head(Kind::fence);
    token.token = fence;
    token.displacement = round;
    token.has_pieces(counts.size());
    engine_->outbox().append(members_.peer(to), token, counts);
  };
}

bool Window::fence_met() { return all_near_ ? near_fence_.met(this) : messages_met(); }

// Tells ranks that share this memory that they may use it as after the fence.
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

bool Window::post(std::span<const int> origins) {
  if (all_near_) {
    for (const int rank : origins) {
      Commons* const to = near(rank)->commons;
      if (to == nullptr) continue;
      to->of_ranks()[own().place].posts.fetch_add(1, std::memory_order_release);
      to->bell.ring();
    }
    return true;
  }
  for (const int rank : origins) {
    const int peer = members_.peer(rank);
    if (near(rank) != nullptr) {
      engine_->outbox().append(peer, head(Kind::post));
    } else {
      ++rare().posted[peer];
      engine_->fabric().watch_peer(peer);  // this rank will wait for it, and sends it nothing
      if (auto held = rare().before_post.extract(peer)) take_held(peer, std::move(held.mapped()));
    }
  }
  take_ahead();
  return engine_->holds() || engine_->has_own();
}

namespace {

void use_up(std::unordered_map<int, uint32_t>* posts, int of) {
  const auto found = posts->find(of);
  if (found != posts->end() && --found->second == 0) posts->erase(found);
}

}  // namespace

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
  const auto can_start = [&](int rank) {
    return near(rank) != nullptr ? rare().posts.contains(rank) : !crowded(rank);
  };
  if (!std::ranges::all_of(targets, can_start)) return false;
  ++rare().starts;
  for (const int rank : targets) {
    if (near(rank) != nullptr) {
      use_up(&rare().posts, rank);
    } else if (!engine_->is_lost(members_.peer(rank))) {
      start_far(&target(rank));
    }
  }
  return true;
}

// Counted like an operation, so that a rank which starts again and again is crowded in the end.
void Window::start_far(Target* to) {
  engine_->outbox().append(members_.peer(to->rank), head(Kind::start));
  Traffic* const traffic = &this->traffic(to);
  ++traffic->issued;
  traffic->bytes += 2 * sizeof(Head);
  if (traffic->bytes - traffic->bytes_asked > ask_after) ask(to->rank, traffic, Kind::acknowledge);
}

void Window::complete(std::span<const int> targets) {
  if (all_near_) {
    for (const int rank : targets) {
      Commons* const to = near(rank)->commons;
      if (to == nullptr) continue;
      to->completed.fetch_add(1, std::memory_order_release);
      to->bell.ring();
    }
    return;
  }
  for (const int rank : targets)
    engine_->outbox().append(members_.peer(rank), head(Kind::complete));
}

bool Window::completed_by(size_t origins) {
  // By words or by messages; those waited for are subtracted from the latter, modulo 2^64.
  const uint64_t by_words = all_near_ ? commons_->completed.load(std::memory_order_acquire) : 0;
  if (by_words + exposure_.completed() < origins) return false;
  exposure_.waited_for(origins);
  return true;
}

// A rank that has left a fence must not see memory in which operations sent before the fence are
// not executed yet. Its requests wait here for the end of the fence, which needs nothing more from
// this rank's program.
bool Window::is_early(int peer, const Head& request) const {
  if (request.kind == Kind::start) return rare_ == nullptr || !rare_->posted.contains(peer);
  const bool is_access = is_operation(request.kind) || request.kind == Kind::locate;
  return is_access && request.odd_epoch == fence_.odd() && !messages_met();
}

// If a member is gone, neither the fence nor the post may ever come.
bool Window::must_wait(int peer, const Head& request) const {
  if (broken_) return false;
  if (is_early(peer, request)) return true;
  return rare_ != nullptr && ((!rare_->before_post.empty() && rare_->before_post.contains(peer)) ||
                              (!rare_->after_fence.empty() && rare_->after_fence.contains(peer)));
}

// Returns false also if the peer is not a member.
bool Window::take(int peer, const Message& message) {
  if (members_.rank_of(peer) < 0 || !take_or_hold(peer, message)) return false;
  take_ahead();
  return true;
}

bool Window::take_or_hold(int peer, const Message& message) {
  if (!must_wait(peer, message.head)) return take_now(peer, message);
  auto& before_post = rare().before_post;
  auto& after_fence = rare().after_fence;
  const bool for_post = before_post.contains(peer) ||
                        (message.head.kind == Kind::start && !after_fence.contains(peer));
  return (for_post ? before_post : after_fence)[peer].hold(message.whole);
}

// If a member is gone, an access epoch begins without a post. The program may be using its memory,
// which it has not exposed, so what belongs to that epoch is refused.
bool Window::take_now(int peer, const Message& message) {
  const Kind kind = message.head.kind;
  if (kind == Kind::start) {
    if (!rare().posted.contains(peer)) rare_->refused.insert(peer);
    return use_up(&rare_->posted, peer), true;
  }
  if (is_refused(peer)) {
    if (kind == Kind::complete) return rare_->refused.erase(peer), true;
    if (is_operation(kind) || kind == Kind::locate) {
      exposure_.settle();
      rma::refuse(&engine_->outbox(), peer, message.head, Status::lost_peer);
      return true;
    }
  }
  return exposure_.take(peer, message);
}

std::byte* Window::place_of_put(int peer, const Head& head) const {
  if (members_.rank_of(peer) < 0 || must_wait(peer, head) || is_refused(peer)) return nullptr;
  return exposure_.place_of_put(peer, head);
}

void Window::put_apart(int peer, const Head& head, bool in_place) {
  exposure_.put_apart(peer, head, in_place);
  take_ahead();
}

void Window::take_ahead() {
  say_over();
  if (rare_ == nullptr) return;
  if (!rare_->after_fence.empty() && (messages_met() || broken_)) {
    for (auto& [peer, messages] : std::exchange(rare_->after_fence, {}))
      take_held(peer, std::move(messages));
  }
  if (!rare_->before_post.empty() && broken_) {
    for (auto& [peer, messages] : std::exchange(rare_->before_post, {}))
      take_held(peer, std::move(messages));
  }
}

// Messages from one on may have to wait again, perhaps for something else.
void Window::take_held(int peer, HeldMessages held) {
  bool for_post = false;
  const bool all = held.take_while([&](const Message& message) {
    for_post = message.head.kind == Kind::start;
    if (!broken_ && is_early(peer, message.head)) return false;
    take_now(peer, message);
    return true;
  });
  exposure_.settle();
  if (!all) (for_post ? rare().before_post : rare().after_fence).emplace(peer, std::move(held));
}

// What waits for a lock has come before the rest.
void Window::refuse_held() {
  exposure_.refuse_held();
  if (rare_ != nullptr) {
    for (auto* const held : {&rare_->before_post, &rare_->after_fence}) {
      for (const auto& [peer, messages] : std::exchange(*held, {}))
        exposure_.refuse(peer, messages);
    }
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
    ++rare().posts[rank];
  } else if (message.head.kind == Kind::broken) {
    const int64_t gone = message.head.displacement;
    if (gone < 0 || gone >= members_.size()) return false;
    engine_->told_of_loss(members_.peer(static_cast<int>(gone)), peer);
    break_off(static_cast<int>(gone));
    tell_broken();
  } else if (!fence_.arrived(rank, message.head.token, message.head.displacement, message.pieces,
                             send_token())) {
    return false;
  }
  take_ahead();
  return true;
}

}  // namespace nearcache::rma
