// SPDX-License-Identifier: BSD-3-Clause
#include "distributed_tree.h"

#include <cstring>
#include <optional>

#include "../common/agreement.h"
#include "tree.h"

namespace barnes_hut {
namespace {

using apps::check;

// The keys of the nearest bodies on lower and on higher ranks, if there are any.
struct Neighbours {
  std::optional<std::uint64_t> before, behind;

  // Returns whether one of them lies in the cell of `level` that contains `key`.
  bool share(std::uint64_t key, int level) const {
    const auto inside = [&](const auto& other) {
      return other && common_level(*other, key) >= level;
    };
    return inside(before) || inside(behind);
  }
};

Neighbours find_neighbours(MPI_Comm comm, const std::vector<Body>& bodies) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  struct Ends {
    std::uint64_t first, last;
  };
  constexpr Ends none = {key_end, key_end};
  const Ends mine = bodies.empty() ? none : Ends{bodies.front().key, bodies.back().key};
  std::vector<Ends> all(ranks);
  check(MPI_Allgather(&mine, 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, comm), "MPI_Allgather");
  Neighbours found;
  for (int r = 0; r < rank; ++r) {
    if (all[r].last != key_end) found.before = all[r].last;
  }
  for (int r = ranks - 1; r > rank; --r) {
    if (all[r].first != key_end) found.behind = all[r].first;
  }
  return found;
}

// Builds the subtrees that contain only this rank's bodies.
class OwnPart {
 public:
  OwnPart(const Cube& root, double theta, const std::vector<Body>& bodies,
          const Neighbours& neighbours, NodeWindow& window)
      : root_(root), theta_(theta), bodies_(bodies), neighbours_(neighbours), window_(window) {}

  /// Returns the roots of the largest subtrees that hold no body of another rank, in order.
  std::vector<Branch> build() {
    if (!bodies_.empty()) take_cell(bodies_.data(), bodies_.data() + bodies_.size(), 0);
    return std::move(branches_);
  }
  std::vector<Ref> leaves() { return std::move(leaves_); }

 private:
  // [first, last): all bodies that this rank has in a cell of `level`.
  void take_cell(const Body* first, const Body* last, int level) {
    if (neighbours_.share(first->key, level)) {
      for_each_octant(first, last, level, [&](const Body* begin, const Body* end) {
        take_cell(begin, end, level + 1);
      });
    } else {
      auto single = [this](const Body& body) { return leaf(body); };
      auto place = [this](const Cell& cell, const Body&) { return window_.add(cell); };
      branches_.push_back(build_tree(first, last, root_, theta_, single, place));
    }
  }

  Branch leaf(const Body& body) {
    leaves_.push_back(window_.add(Leaf{body.position, body.mass}));
    return {body.key, leaves_.back(), body.mass, body.position};
  }

  const Cube& root_;
  double theta_;
  const std::vector<Body>& bodies_;
  const Neighbours& neighbours_;
  NodeWindow& window_;
  std::vector<Branch> branches_;
  std::vector<Ref> leaves_;
};

// Gathers the elements of all ranks on rank 0, in rank order.
template <class T>
std::vector<T> gather(MPI_Comm comm, const std::vector<T>& mine) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int bytes = static_cast<int>(mine.size() * sizeof(T));
  std::vector<int> sizes(ranks), at(ranks + 1);
  check(MPI_Gather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, comm), "MPI_Gather");
  for (int r = 0; r < ranks; ++r) at[r + 1] = at[r] + sizes[r];
  std::vector<T> all(rank == 0 ? at[ranks] / sizeof(T) : 0);
  check(MPI_Gatherv(mine.data(), bytes, MPI_BYTE, all.data(), sizes.data(), at.data(), MPI_BYTE, 0,
                    comm),
        "MPI_Gatherv");
  return all;
}

// The inverse of gather: `parts[r]` on rank 0 goes to rank r.
template <class T>
std::vector<T> scatter(MPI_Comm comm, const std::vector<std::vector<T>>& parts) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  std::vector<int> sizes(ranks), at(ranks + 1);
  std::vector<T> all;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    sizes[r] = static_cast<int>(parts[r].size() * sizeof(T));
    at[r + 1] = at[r] + sizes[r];
    all.insert(all.end(), parts[r].begin(), parts[r].end());
  }
  int bytes = 0;
  check(MPI_Scatter(sizes.data(), 1, MPI_INT, &bytes, 1, MPI_INT, 0, comm), "MPI_Scatter");
  std::vector<T> mine(bytes / sizeof(T));
  check(MPI_Scatterv(all.data(), sizes.data(), at.data(), MPI_BYTE, mine.data(), bytes, MPI_BYTE, 0,
                     comm),
        "MPI_Scatterv");
  return mine;
}

struct TopCell {
  Ref where;
  Cell cell;
};

// On rank 0: joins the branches of all ranks. `free` gives the start of each rank's free memory.
Ref join(const std::vector<Branch>& branches, std::vector<Placement> free, const Cube& root,
         double theta, std::vector<std::vector<TopCell>>& parts) {
  auto single = [](const Branch& branch) { return branch; };
  auto place = [&](const Cell& cell, const Branch& first) {
    const int owner = first.node.rank;
    const Ref where = Ref::to(owner, free[owner].take(sizeof(Cell)), false);
    parts[owner].push_back({where, cell});
    return where;
  };
  return build_tree(branches.data(), branches.data() + branches.size(), root, theta, single, place)
      .node;
}

}  // namespace

DistributedTree build_distributed_tree(MPI_Comm comm, const Cube& root, double theta,
                                       const std::vector<Body>& bodies, NodeWindow& window) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  window.begin_tree(comm, bodies.size());
  const Neighbours neighbours = find_neighbours(comm, bodies);
  DistributedTree tree;
  const auto branches = apps::together(comm, [&] {
    OwnPart own(root, theta, bodies, neighbours, window);
    auto found = own.build();
    tree.leaves = own.leaves();
    return found;
  });
  const auto all = gather(comm, branches);
  const auto free = gather(comm, std::vector<Placement>{window.placement()});
  std::vector<std::vector<TopCell>> parts(rank == 0 ? ranks : 0);
  apps::together(comm, [&] {
    if (rank == 0) tree.root = join(all, free, root, theta, parts);
  });
  for (const auto& top : scatter(comm, parts)) window.put_own(top.where, top.cell);
  check(MPI_Bcast(&tree.root, sizeof tree.root, MPI_BYTE, 0, comm), "MPI_Bcast");
  window.end_tree(comm);
  return tree;
}

}  // namespace barnes_hut
