// SPDX-License-Identifier: BSD-3-Clause
#include "graph/partition.h"

#include <fmt/core.h>

#include "common/agreement.h"

namespace apps {

Partition::Partition(std::uint64_t vertices, int ranks) : vertices_(vertices), ranks_(ranks) {
  if (vertices == 0) throw Failure("the graph has no vertices");
  if (vertices > max_vertices) {
    throw Failure(
        fmt::format("the graph has {} vertices, at most {} are supported (32-bit vertex ids)",
                    vertices, max_vertices));
  }
  if (static_cast<std::uint64_t>(ranks) > vertices) {
    throw Failure(fmt::format("{} ranks for {} {}: start at most {}", ranks, vertices,
                              vertices == 1 ? "vertex" : "vertices", vertices));
  }
  block_ = static_cast<std::uint32_t>(vertices / ranks_);
  larger_ = static_cast<std::uint32_t>(vertices % ranks_);
  split_ = larger_ * (block_ + 1);
}

}  // namespace apps
