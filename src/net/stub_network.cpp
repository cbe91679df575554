#include "net/stub_network.h"

#include <algorithm>
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

int StubNetwork::draw() {
  if (waiting_.empty()) return -1;
  drawn_ = waiting_[below(waiting_.size())];
  return drawn_.to;
}

bool StubNetwork::poll(int rank, Receiver& receiver) {
  std::vector<int>& gone = to_tell_[static_cast<size_t>(rank)];
  if (!gone.empty()) {
    const int peer = gone.back();
    gone.pop_back();
    receiver.lost(peer, "it was killed");
    return true;
  }
  if (drawn_.to != rank) {
    std::vector<Pair> here;
    std::ranges::copy_if(waiting_, std::back_inserter(here),
                         [&](const Pair& pair) { return pair.to == rank; });
    if (here.empty()) return false;
    drawn_ = here[below(here.size())];
  }
  const Pair pair = std::exchange(drawn_, {-1, -1});
  std::deque<Batch>& queue = under_way_[pair];
  const Batch batch = std::move(queue.front());
  queue.pop_front();
  if (queue.empty()) std::erase(waiting_, pair);
  receiver.received(pair.from, batch);
  return true;
}

void StubNetwork::kill(int rank) {
  dead_[static_cast<size_t>(rank)] = true;
  const auto concerned = [&](const Pair& pair) { return pair.from == rank || pair.to == rank; };
  std::erase_if(waiting_, concerned);
  std::erase_if(under_way_, [&](const auto& entry) { return concerned(entry.first); });
  drawn_ = {-1, -1};
  for (int other = 0; other < static_cast<int>(fabrics_.size()); ++other) {
    if (other != rank) to_tell_[static_cast<size_t>(other)].push_back(rank);
  }
}

}  // namespace nearcache::net
