// SPDX-License-Identifier: BSD-3-Clause
#include "gets.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bench {
namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;

Edge rmat_edge(int scale, Random& random) {
  Edge edge{0, 0};
  for (int level = 0; level < scale; ++level) {
    double draw = random.uniform();
    bool below = draw >= 0.76, right = (draw >= 0.57 && draw < 0.76) || draw >= 0.95;
    edge = {edge.first * 2 + below, edge.second * 2 + right};
  }
  return edge;
}

// Returns both directions of every edge in ascending order, without loops or duplicates. Vertices
// are renumbered at random; otherwise the first rank would own all the hubs.
std::vector<Edge> rmat(int scale, Random& random) {
  auto name = shuffled(std::size_t{1} << scale, random);
  std::vector<Edge> edges;
  for (std::size_t i = std::size_t{16} << scale; i > 0; --i) {
    auto [from, to] = rmat_edge(scale, random);
    if (from == to) continue;
    edges.push_back({name[from], name[to]});
    edges.push_back({name[to], name[from]});
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

void count_distinct(Gets& gets) {
  auto order = gets.sequence;
  auto before = [](const Place& a, const Place& b) { return a.displacement < b.displacement; };
  auto same = [](const Place& a, const Place& b) { return a.displacement == b.displacement; };
  std::sort(order.begin(), order.end(), before);
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  gets.distinct = order.size();
  for (const Place& place : order) gets.distinct_bytes += static_cast<std::size_t>(place.size);
}

}  // namespace

std::vector<Place> places(int count, Random& random) {
  std::vector<Place> result;
  std::size_t displacement = 0;
  for (int i = 0; i < count; ++i) {
    int size = 1 << random.below(largest_power + 1);
    result.push_back({displacement, size});
    displacement += static_cast<std::size_t>(size);
  }
  return result;
}

int normal_index(int count, Random& random) {
  constexpr double two_pi = 6.283185307179586;
  for (;;) {
    double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    double value =
        std::floor(count / 2.0 + count / 4.0 * radius * std::cos(two_pi * random.uniform()));
    if (value >= 0 && value < count) return static_cast<int>(value);
  }
}

Gets normal_gets(int count, std::int64_t samples, std::uint64_t seed) {
  Random random(seed);
  auto set = places(count, random);
  Gets gets;
  for (; samples > 0; --samples)
    gets.sequence.push_back(set[static_cast<std::size_t>(normal_index(count, random))]);
  gets.window_bytes = set.back().displacement + static_cast<std::size_t>(set.back().size);
  count_distinct(gets);
  return gets;
}

Gets lcc_gets(int scale, std::uint64_t seed) {
  Random random(seed);
  auto edges = rmat(scale, random);
  std::size_t vertices = std::size_t{1} << scale, own = vertices / 32;
  std::vector<std::size_t> first(vertices + 1, 0);
  for (const Edge& edge : edges) ++first[edge.first + 1];
  for (std::size_t v = 0; v < vertices; ++v) first[v + 1] += first[v];
  Gets gets;
  for (std::size_t at = 0; at < first[own]; ++at) {
    auto [vertex, neighbour] = edges[at];
    if (neighbour < own || first[vertex + 1] - first[vertex] < 2) continue;
    gets.sequence.push_back(
        {first[neighbour] * 4, static_cast<int>((first[neighbour + 1] - first[neighbour]) * 4)});
  }
  gets.window_bytes = edges.size() * 4;
  count_distinct(gets);
  return gets;
}

}  // namespace bench
