// SPDX-License-Identifier: BSD-3-Clause
#include "net/node_fabric.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"

namespace nearcache::net {
namespace {

// The time it takes to wake an agent: a sender that waits in vain loses no more than it could have
// gained.
constexpr uint64_t patience_ns = 8000;

// The most that a poll takes from one rank, so that others get their turn.
constexpr uint64_t most_lines = 2 * SharedRing::lines;

// Not a valid record: a reader that finds it gives up the writer.
constexpr uint64_t goodbye = UINT64_MAX;

}  // namespace

std::unique_ptr<NodeFabric> NodeFabric::make(std::vector<Place> places, size_t own, int ranks,
                                             Fabric* others, std::string* wrong) {
  std::unique_ptr<NodeFabric> fabric(new NodeFabric(std::move(places), own, ranks, others));
  const int bell = fabric->places_[own].at.bell.descriptor();
  if (others == nullptr) {
    fabric->descriptor_ = bell;
    return fabric;
  }
  fabric->descriptor_ = epoll_create1(EPOLL_CLOEXEC);
  for (const int each : {bell, others->wait_descriptor()}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = each}};
    if (fabric->descriptor_ < 0 ||
        epoll_ctl(fabric->descriptor_, EPOLL_CTL_ADD, each, &event) != 0) {
      *wrong = std::string("an epoll set: ") + std::strerror(errno);
      return nullptr;
    }
  }
  return fabric;
}

NodeFabric::NodeFabric(std::vector<Place> places, size_t own, int ranks, Fabric* others)
    : by_rank_(static_cast<size_t>(ranks), -1),
      own_(own),
      ranks_(ranks),
      others_(others),
      patience_(ns_to_ticks(patience_ns)) {
  places_.resize(places.size());
  for (size_t place = 0; place < places.size(); ++place) {
    places_[place].at = std::move(places[place]);
    by_rank_[static_cast<size_t>(places_[place].at.rank)] = static_cast<int>(place);
  }
}

NodeFabric::~NodeFabric() {
  if (others_ != nullptr && descriptor_ >= 0) close(descriptor_);
}

bool NodeFabric::use_tables(DescriptorTables* tables, std::vector<int>* kept) {
  if (others_ != nullptr && !others_->use_tables(tables, kept)) return false;
  if (tables == nullptr) return true;
  kept->push_back(descriptor_);
  for (const Peer& each : places_) {
    kept->push_back(each.at.bell.descriptor());
    kept->push_back(each.at.bell.writing_end());
  }
  return true;
}

// Returns null if the rank is on another node.
NodeFabric::Peer* NodeFabric::place_of(int rank) const {
  const int place = by_rank_[static_cast<size_t>(rank)];
  return place < 0 ? nullptr : &places_[static_cast<size_t>(place)];
}

// Lost peers

void NodeFabric::lose(Peer* peer, const char* why) {
  if (peer->lost) return;
  forget(peer->at.rank);
  lost_.emplace_back(peer->at.rank, why);
  ring();
}

// There is always a line left for it.
void NodeFabric::say_goodbye(Peer* peer) {
  if (peer->to == nullptr) begin(peer);
  peer->to->word(peer->written).store(goodbye, std::memory_order_release);
  told(peer);
}

void NodeFabric::forget(int rank) {
  Peer* const peer = place_of(rank);
  if (peer == nullptr) return others_ != nullptr ? others_->forget(rank) : void();
  if (std::exchange(peer->lost, true)) return;
  say_goodbye(peer);
  peer->queue.consume(peer->queue.bytes().size());
}

// Sending

void NodeFabric::begin(Peer* peer) {
  peer->to = &peer->at.inbox->ring(own_, places_.size());
  peer->at.inbox->writes(own_).store(1, std::memory_order_relaxed);
  peer->at.inbox->writers.fetch_add(1, std::memory_order_release);
}

// Returns the number of free lines, not counting one that is reserved for a goodbye.
uint64_t NodeFabric::room(Peer* peer) {
  return SharedRing::lines - 1 - (peer->written - peer->read);
}

// Writes as much as there is room for, and returns the number of bytes.
uint64_t NodeFabric::give(Peer* peer, std::span<const std::byte> first,
                          std::span<const std::byte> second) {
  const uint64_t all = first.size() + second.size();
  uint64_t gone = 0;
  while (gone < all) {
    const uint64_t now = std::min(all - gone, SharedRing::most_bytes),
                   lines = SharedRing::lines_of(now);
    if (room(peer) < lines) {
      const uint64_t read = peer->to->read.load(std::memory_order_acquire);
      if (read > peer->written || read < peer->read) {
        lose(peer, "it says it has read what was not written");
        return all;
      }
      peer->read = read;
      if (room(peer) < lines) return gone;
    }
    const uint64_t of_first = std::min(now, first.size());
    peer->to->write(peer->written, first.first(of_first), second.first(now - of_first),
                    gone + now < all);
    first = first.subspan(of_first);
    second = second.subspan(now - of_first);
    peer->written += lines;
    gone += now;
  }
  return gone;
}

void NodeFabric::send_both(int to, std::span<const std::byte> batch,
                           std::span<const std::byte> end) {
  Peer* const peer = place_of(to);
  if (peer == nullptr) return others_->send(to, batch, end);
  if (peer->lost) return;
  if (peer->to == nullptr) begin(peer);
  const uint64_t all = batch.size() + end.size();
  const uint64_t gone = peer->queue.empty() ? give(peer, batch, end) : 0;
  if (gone > 0) told(peer);
  if (gone == all || peer->lost) return;
  peer->queue.append(std::as_bytes(std::span(&all, 1)));
  const uint64_t of_batch = std::min<uint64_t>(gone, batch.size());
  peer->queue.append(batch.subspan(of_batch));
  peer->queue.append(end.subspan(gone - of_batch));
  if (gone > 0) peer->left = all - gone;
  block(peer);
}

void NodeFabric::block(Peer* peer) {
  if (!peer->blocked) blocked_.push_back(peer);
  peer->blocked = true;
  if (armed_) ring();  // a thread that sleeps has not asked this peer for room
}

void NodeFabric::give_waiting(Peer* peer) {
  bool any = false;
  while (!peer->lost && !peer->queue.empty()) {
    const auto bytes = peer->queue.bytes();
    uint64_t length;
    std::memcpy(&length, bytes.data(), sizeof length);
    if (peer->left == 0) peer->left = length;
    const auto rest = bytes.subspan(sizeof length, peer->left);
    const uint64_t gone = give(peer, rest, {});
    if (peer->lost) return;
    any = any || gone > 0;
    if (gone < rest.size()) {
      // Drops what was sent, and puts the length in front of the rest.
      peer->queue.consume(gone);
      std::memcpy(const_cast<std::byte*>(peer->queue.bytes().data()), &length, sizeof length);
      peer->left -= gone;
      break;
    }
    peer->queue.consume(sizeof length + rest.size());
    peer->left = 0;
  }
  if (any) told(peer);
  if (!peer->queue.empty()) block(peer);
}

// Waking

// Called after something was written for the peer.
void NodeFabric::told(Peer* peer) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  switch (peer->at.inbox->watch.load(std::memory_order_relaxed)) {
    case Inbox::Watch::looks:
      return;
    case Inbox::Watch::dozes:
      if (armed_) return wake(peer);  // a thread that sleeps would not ring later
      if (peer->unheard) return;
      peer->unheard = true;
      peer->unheard_since = clock_ticks();
      unheard_.push_back(peer);
      return;
    default:
      wake(peer);
  }
}

void NodeFabric::wake(Peer* peer) {
  using Watch = Inbox::Watch;
  std::atomic<Watch>& watch = peer->at.inbox->watch;
  if (watch.load(std::memory_order_relaxed) != Watch::looks &&
      watch.exchange(Watch::looks, std::memory_order_acq_rel) != Watch::looks)
    peer->at.bell.ring();
}

// Wakes the peers that have not taken what they were sent `patience` ticks ago.
void NodeFabric::wake_unheard(uint64_t patience) {
  const uint64_t now = clock_ticks();
  std::erase_if(unheard_, [&](Peer* peer) {
    const bool heard =
        peer->at.inbox->watch.load(std::memory_order_relaxed) == Inbox::Watch::looks ||
        peer->to->read.load(std::memory_order_relaxed) == peer->written;
    if (!heard && now - peer->unheard_since < patience) return false;
    if (!heard) wake(peer);
    peer->unheard = false;
    return true;
  });
}

void NodeFabric::ring() {
  if (!rung_.exchange(true)) places_[own_].at.bell.ring();
}

// Receiving

void NodeFabric::find_writers() {
  const uint32_t writers = inbox().writers.load(std::memory_order_acquire);
  if (writers == writers_) [[likely]]
    return;
  writers_ = writers;
  for (size_t place = 0; place < places_.size(); ++place) {
    Peer& peer = places_[place];
    if (place == own_ || peer.from != nullptr ||
        inbox().writes(place).load(std::memory_order_relaxed) == 0)
      continue;
    peer.from = &inbox().ring(place, places_.size());
    from_.push_back(&peer);
  }
}

// Returns false if the word is not that of a record.
bool NodeFabric::take_record(Peer* peer, uint64_t word) {
  const uint64_t bytes = word & ~SharedRing::goes_on;
  if (bytes == 0 || bytes > SharedRing::most_bytes ||
      bytes > most_bytes - peer->come.bytes().size())
    return false;
  peer->from->take(peer->taken, bytes, peer->come.room(bytes).data());
  peer->come.filled(bytes);
  peer->taken += SharedRing::lines_of(bytes);
  peer->from->read.store(peer->taken, std::memory_order_release);
  return true;
}

bool NodeFabric::take(Peer* peer, Receiver& receiver) {
  bool any = false;
  const uint64_t most = peer->taken + most_lines;
  while (!peer->lost && peer->taken < most) {
    const uint64_t word = peer->from->word(peer->taken).load(std::memory_order_acquire);
    if (word == 0) break;
    any = true;
    if (!take_record(peer, word)) {
      lose(peer, word == goodbye ? "it has given this rank up"
                                 : "it sent a batch of no bytes, or of too many");
      break;
    }
    if ((word & SharedRing::goes_on) != 0) continue;
    receiver.received(peer->at.rank, peer->come.bytes());
    peer->come.consume(peer->come.bytes().size());
  }
  if (any && peer->from->wants_room.load(std::memory_order_relaxed) != 0 &&
      peer->from->wants_room.exchange(0) != 0)
    wake(peer);
  return any;
}

bool NodeFabric::poll(Receiver& receiver) {
  disarm();
  if (due_ > 0 || rung_.load(std::memory_order_relaxed)) [[unlikely]]
    hear();
  bool any = false;
  find_writers();
  for (Peer* peer : from_) any = take(peer, receiver) || any;
  if (!blocked_.empty()) [[unlikely]] {
    for (Peer* peer : std::exchange(blocked_, {})) peer->blocked = false, give_waiting(peer);
  }
  if (!unheard_.empty()) wake_unheard(patience_);
  for (const auto& [rank, why] : std::exchange(lost_, {})) receiver.lost(rank, why), any = true;
  return (others_ != nullptr && others_->poll(receiver)) || any;
}

// Sleeping

// The reader may clear a request for room at any time, and then rings. So requests are made after
// the watch has been set. The reader looks for them after it has made room, and before it sleeps.
bool NodeFabric::has_room_now() {
  for (Peer* peer : blocked_) peer->to->wants_room.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return std::ranges::any_of(blocked_, [](const Peer* peer) {
    return !peer->lost && peer->to->read.load(std::memory_order_relaxed) != peer->read;
  });
}

bool NodeFabric::something_is_there() {
  if (inbox().writers.load(std::memory_order_relaxed) != writers_ || !lost_.empty()) return true;
  for (Peer* peer : from_) {
    if (peer->lost) continue;
    if (peer->from->word(peer->taken).load(std::memory_order_relaxed) != 0) return true;
    if (peer->from->wants_room.load(std::memory_order_relaxed) != 0 &&
        peer->from->wants_room.exchange(0) != 0)
      wake(peer);
  }
  return !blocked_.empty() && has_room_now();
}

bool NodeFabric::arm_as(Inbox::Watch watch) {
  if (!unheard_.empty()) wake_unheard(0);
  if (!armed_) armed_at_ = clock_ticks();
  // A sender that has reset the watch will ring: the descriptor becomes readable anyway.
  if (inbox().watch.exchange(watch) == Inbox::Watch::looks && armed_) ++due_;
  armed_ = true;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return !something_is_there() && (others_ == nullptr || others_->arm());
}

bool NodeFabric::arm_briefly() {
  return arm_as(soon_ ? Inbox::Watch::dozes : Inbox::Watch::sleeps);
}

void NodeFabric::disarm() {
  if (!armed_) return;
  armed_ = false;
  soon_ = clock_ticks() - armed_at_ < patience_;
  if (inbox().watch.exchange(Inbox::Watch::looks) == Inbox::Watch::looks) ++due_;
}

// Rings that are still on their way stay due: until they are consumed, the descriptor may become
// readable.
void NodeFabric::hear() {
  if (rung_.exchange(false)) ++due_;
  due_ -= std::min<uint64_t>(due_, places_[own_].at.bell.silence());
}

}  // namespace nearcache::net
