// SPDX-License-Identifier: BSD-3-Clause
#include "net/stub_network.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <utility>

namespace nearcache::net {

StubNetwork::StubNetwork(int ranks, uint64_t seed)
    : random_(seed), dead_(static_cast<size_t>(ranks)), to_tell_(static_cast<size_t>(ranks)) {
  for (int rank = 0; rank < ranks; ++rank) fabrics_.push_back(std::make_unique<End>(this, rank));
}

void StubNetwork::send(Pair pair, std::span<const std::byte> batch,
                       std::span<const std::byte> end) {
  ++batches_;
  bytes_ += batch.size() + end.size();
  if (dead_[static_cast<size_t>(pair.from)] || dead_[static_cast<size_t>(pair.to)]) return;
  std::deque<Batch>& queue = under_way_[pair];
  if (queue.empty()) waiting_.push_back(pair);
  Batch& all = queue.emplace_back(batch.begin(), batch.end());
  all.insert(all.end(), end.begin(), end.end());
}

namespace {

struct Region final : DirectMemory::Exposed {
  explicit Region(std::function<void()> end) : hide(std::move(end)) {}
  ~Region() override { hide(); }
  void has(DirectMemory::Key key) { key_ = key; }

  std::function<void()> hide;
};

}  // namespace

std::unique_ptr<DirectMemory::Exposed> StubNetwork::expose(std::byte* base, uint64_t size) {
  const uint64_t key = ++last_key_, address = reinterpret_cast<uint64_t>(base);
  exposed_[key] = {address, address + size};
  auto region = std::make_unique<Region>([this, key] { exposed_.erase(key); });
  region->has({key, address});
  return region;
}

bool StubNetwork::has_room(Pair pair) const {
  constexpr size_t most = 6;
  const auto found = memory_.find(pair);
  return found == memory_.end() || found->second.size() < most;
}

void StubNetwork::begin(Pair pair, DirectMemory::Key key, uint64_t offset,
                        std::vector<std::byte> data, uint64_t token, bool write) {
  ++transfers_;
  if (dead_[static_cast<size_t>(pair.from)] || dead_[static_cast<size_t>(pair.to)]) return;
  const auto found = exposed_.find(key.key);
  const auto [begin, end] =
      found == exposed_.end() ? std::pair<uint64_t, uint64_t>() : found->second;
  const uint64_t address = key.address + offset;
  if (address < begin || address > end || data.size() > end - address)
    return to_tell_[static_cast<size_t>(pair.from)].push_back(pair.to);
  memory_[pair].push_back({write, false, address, token, std::move(data)});
}

void StubNetwork::execute(Transfer* transfer) {
  if (std::exchange(transfer->executed, true)) return;
  auto* const there = reinterpret_cast<std::byte*>(transfer->address);
  if (transfer->write) {
    std::ranges::copy(transfer->data, there);
  } else {
    std::copy_n(there, transfer->data.size(), transfer->data.begin());
  }
}

// Executes one transfer of a pair, drawn at random; half of the time it then completes the pair's
// first one.
bool StubNetwork::end_one(int rank, Receiver& receiver) {
  std::vector<Pair> here;
  for (const auto& [pair, transfers] : memory_) {
    if (pair.from == rank) here.push_back(pair);
  }
  if (here.empty()) return false;
  const auto found = memory_.find(here[below(here.size())]);
  std::deque<Transfer>& transfers = found->second;
  execute(&transfers[below(transfers.size())]);
  if (below(2) == 0) return true;
  execute(&transfers.front());
  const Transfer first = std::move(transfers.front());
  const int peer = found->first.to;
  transfers.pop_front();
  if (transfers.empty()) memory_.erase(found);
  receiver.transferred(peer, first.token,
                       first.write ? std::span<const std::byte>() : std::span(first.data));
  return true;
}

int StubNetwork::draw() {
  drawn_end_ = -1;
  if (waiting_.empty() && memory_.empty()) return -1;
  const size_t which = below(waiting_.size() + memory_.size());
  if (which >= waiting_.size()) {
    const auto past = static_cast<std::ptrdiff_t>(which - waiting_.size());
    return drawn_end_ = std::next(memory_.begin(), past)->first.from;
  }
  drawn_ = waiting_[which];
  return drawn_.to;
}

bool StubNetwork::poll(int rank, Receiver& receiver) {
  std::vector<int>& gone = to_tell_[static_cast<size_t>(rank)];
  if (!gone.empty()) {
    const int peer = gone.back();
    gone.pop_back();
    receiver.lost(peer, "it was killed, or its memory is not there");
    return true;
  }
  if (std::exchange(drawn_end_, -1) == rank) return end_one(rank, receiver);
  if (drawn_.to != rank) {
    std::vector<Pair> here;
    std::ranges::copy_if(waiting_, std::back_inserter(here),
                         [&](const Pair& pair) { return pair.to == rank; });
    if (here.empty()) return end_one(rank, receiver);
    drawn_ = here[below(here.size())];
  }
  const Pair pair = std::exchange(drawn_, {-1, -1});
  std::deque<Batch>& queue = under_way_[pair];
  const Batch batch = std::move(queue.front());
  queue.pop_front();
  if (queue.empty()) std::erase(waiting_, pair);
  if (below(2) == 0 || !bring_apart(pair.from, batch, receiver))
    receiver.received(pair.from, batch);
  return true;
}

// Delivers a batch apart from its body, which it writes in pieces. Returns false, having done
// nothing, if the batch has no body.
bool StubNetwork::bring_apart(int from, std::span<const std::byte> batch, Receiver& receiver) {
  constexpr size_t head_bytes = Receiver::head_bytes;
  if (batch.size() < head_bytes) return false;
  const auto head = batch.first(head_bytes);
  const size_t bytes = receiver.body(from, head, batch.size()).bytes;
  if (bytes == 0 || bytes > batch.size() - head_bytes) return false;
  bool in_place = true;
  for (size_t at = 0; at < bytes && in_place;) {
    const Place place = receiver.body(from, head, batch.size());
    const size_t now = std::min(bytes - at, 1 + below(Detour::bytes));
    std::ranges::copy(batch.subspan(head_bytes + at, now), detour_.buffer());
    const iovec run{place.memory + at, now};
    in_place = place.memory != nullptr && place.bytes == bytes && detour_.give({&run, 1}) == now;
    at += now;
  }
  receiver.received_apart(from, head, batch.subspan(head_bytes + bytes), in_place);
  return true;
}

void StubNetwork::End::send_unsure(int to, std::span<const std::byte> batch,
                                   std::span<const std::byte> data, Ending ending) {
  std::vector<std::byte> all(data.size() + sizeof ending.missing);
  bool there = true;
  for (size_t at = 0; at < data.size() && there; at += Detour::bytes) {
    const auto now = data.subspan(at, std::min(data.size() - at, Detour::bytes));
    const iovec run{const_cast<std::byte*>(now.data()), now.size()};
    there = network_->detour_.take({&run, 1}) == now.size();
    if (there) std::memcpy(all.data() + at, network_->detour_.buffer(), now.size());
  }
  const uint64_t word = there ? ending.all_there : ending.missing;
  std::memcpy(all.data() + data.size(), &word, sizeof word);
  send_both(to, batch, all);
}

void StubNetwork::kill(int rank) {
  std::vector<int> others;
  for (int other = 0; other < static_cast<int>(fabrics_.size()); ++other) {
    if (other != rank) others.push_back(other);
  }
  kill(rank, others);
}

void StubNetwork::kill(int rank, std::span<const int> told) {
  dead_[static_cast<size_t>(rank)] = true;
  const auto concerned = [&](const Pair& pair) { return pair.from == rank || pair.to == rank; };
  std::erase_if(waiting_, concerned);
  std::erase_if(under_way_, [&](const auto& entry) { return concerned(entry.first); });
  std::erase_if(memory_, [&](const auto& entry) { return concerned(entry.first); });
  drawn_ = {-1, -1};
  for (const int other : told) to_tell_[static_cast<size_t>(other)].push_back(rank);
}

}  // namespace nearcache::net
