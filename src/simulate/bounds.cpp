// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/bounds.h"

#include <algorithm>
#include <bit>

#include "cache/get/entry.h"

namespace nearcache::simulate {
namespace {

// Granules in use at every moment: adds to a span unless a limit would be exceeded, in O(log n). A
// segment tree without push-down: a node's `most` is the maximum within its span, including its own
// `added` but not those of the nodes above it.
class Occupancy {
 public:
  explicit Occupancy(uint64_t moments)
      : leaves_(std::bit_ceil(std::max<uint64_t>(moments, 1))), nodes_(2 * leaves_) {}

  bool add_if_fits(uint64_t from, uint64_t to, uint32_t granules, uint32_t limit) {
    if (granules > limit || most(1, 0, leaves_, from, to) > limit - granules) return false;
    add(1, 0, leaves_, from, to, granules);
    return true;
  }

 private:
  struct Node {
    uint32_t most = 0, added = 0;
  };

  uint32_t most(uint64_t at, uint64_t begin, uint64_t end, uint64_t from, uint64_t to) const {
    const Node& node = nodes_[at];
    if (from <= begin && end <= to) return node.most;
    const uint64_t middle = (begin + end) / 2;
    uint32_t below = 0;
    if (from < middle) below = most(2 * at, begin, middle, from, to);
    if (to > middle) below = std::max(below, most(2 * at + 1, middle, end, from, to));
    return below + node.added;
  }

  void add(uint64_t at, uint64_t begin, uint64_t end, uint64_t from, uint64_t to,
           uint32_t granules) {
    Node& node = nodes_[at];
    if (from <= begin && end <= to) {
      node.most += granules;
      node.added += granules;
      return;
    }
    const uint64_t middle = (begin + end) / 2;
    if (from < middle) add(2 * at, begin, middle, from, to, granules);
    if (to > middle) add(2 * at + 1, middle, end, from, to, granules);
    node.most = std::max(nodes_[2 * at].most, nodes_[2 * at + 1].most) + node.added;
  }

  uint64_t leaves_;
  std::vector<Node> nodes_;
};

uint32_t limit_of(uint64_t storage_bytes) {
  return static_cast<uint32_t>(std::min<uint64_t>(storage_bytes / granule_bytes, UINT32_MAX / 2));
}

}  // namespace

Bounds::Bounds(Reuse reuse, const Cost& cost, uint64_t most_moments) : reuse_(std::move(reuse)) {
  while (reuse_.moments / step_ > most_moments) ++step_;
  const auto density = [&cost](const Interval& interval) {
    return static_cast<float>(
        cost.of(interval.whole, interval.head) /
        (static_cast<double>(granules_of(interval.head)) * (interval.to - interval.from)));
  };
  std::vector<std::pair<float, uint32_t>> order;
  order.reserve(reuse_.intervals.size());
  for (uint32_t i = 0; i < reuse_.intervals.size(); ++i)
    order.emplace_back(density(reuse_.intervals[i]), i);
  // Ties are broken by time, so that the result does not depend on the sort.
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<Interval> sorted;
  sorted.reserve(order.size());
  for (const auto& [value, at] : order) sorted.push_back(reuse_.intervals[at]);
  reuse_.intervals = std::move(sorted);

  std::erase_if(reuse_.keys, [](const KeyUse& key) { return key.hit_bytes == 0; });
  std::stable_sort(reuse_.keys.begin(), reuse_.keys.end(),
                   [&cost](const KeyUse& a, const KeyUse& b) {
                     return cost.of(a.hits, a.hit_bytes) * granules_of(b.bytes) >
                            cost.of(b.hits, b.hit_bytes) * granules_of(a.bytes);
                   });
}

Bound Bounds::best_fixed(uint64_t storage_bytes) const {
  if (reuse_.needs_no_storage) return infinite();
  uint32_t room = limit_of(storage_bytes);
  Bound bound;
  for (const KeyUse& key : reuse_.keys) {
    const uint32_t granules = granules_of(key.bytes);
    if (granules > room) continue;
    room -= granules;
    bound += {key.hits, key.hit_bytes};
  }
  return bound;
}

Bound Bounds::clairvoyant(uint64_t storage_bytes) const {
  if (reuse_.needs_no_storage) return infinite();
  const uint32_t limit = limit_of(storage_bytes);
  Occupancy occupancy(reuse_.moments / step_ + 1);
  Bound bound;
  for (const Interval& interval : reuse_.intervals) {
    // An interval occupies every step that it touches.
    const uint64_t from = interval.from / step_;
    const uint64_t to = (interval.to + step_ - 1) / step_;
    if (occupancy.add_if_fits(from, to, granules_of(interval.head), limit))
      bound += {interval.whole, interval.head};
  }
  return bound;
}

}  // namespace nearcache::simulate
