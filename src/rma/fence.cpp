// SPDX-License-Identifier: BSD-3-Clause
#include "rma/fence.h"

#include <utility>

namespace nearcache::rma {

Fence::Fence(int rank, int ranks) : rank_(rank), ranks_(ranks) {
  while ((int64_t{1} << rounds_) < ranks) ++rounds_;
  round_ = rounds_;
}

void Fence::enter(std::span<const Piece> counts, const Send& send) {
  ++fence_;
  round_ = 0;
  add(counts);
  send_round(send);
  advance(send);
}

void Fence::add(std::span<const Piece> counts) {
  for (const Piece& count : counts) {
    const int distance = distance_to(static_cast<int>(count.offset));
    if (distance == 0) {
      expected_[!odd()] += count.length;
    } else {
      underway().counts[distance] += count.length;
    }
  }
}

void Fence::send_round(const Send& send) {
  if (round_ == rounds_) return;
  std::vector<Piece> counts;
  std::map<int, uint64_t>& to_pass_on = underway().counts;
  for (auto each = to_pass_on.begin(); each != to_pass_on.end();) {
    if ((each->first >> round_ & 1) == 0) {
      ++each;
      continue;
    }
    counts.push_back({(rank_ + each->first) % ranks_, each->second});
    each = to_pass_on.erase(each);
  }
  send(static_cast<int>((rank_ + (int64_t{1} << round_)) % ranks_), fence_, round_, counts);
}

void Fence::advance(const Send& send) {
  auto& early = underway().early;
  while (round_ < rounds_) {
    const auto found = early.find({fence_, round_});
    if (found == early.end()) return;
    add(found->second);
    early.erase(found);
    ++round_;
    send_round(send);
  }
}

bool Fence::arrived(int from, uint64_t fence, int64_t round, std::span<const Piece> counts,
                    const Send& send) {
  // No rank leaves a fence before all have entered it, so none is further ahead than the next one.
  const bool entered = fence == fence_ && round >= round_;
  if ((!entered && fence != fence_ + 1) || round < 0 || round >= rounds_) return false;
  if ((from + (int64_t{1} << round)) % ranks_ != rank_) return false;
  for (const Piece& count : counts) {
    if (count.offset < 0 || count.offset >= ranks_ ||
        (distance_to(static_cast<int>(count.offset)) & ((int64_t{2} << round) - 1)) != 0)
      return false;
  }
  if (!underway()
           .early
           .emplace(std::pair(fence, static_cast<int>(round)),
                    std::vector<Piece>(counts.begin(), counts.end()))
           .second)
    return false;
  advance(send);
  return true;
}

}  // namespace nearcache::rma
