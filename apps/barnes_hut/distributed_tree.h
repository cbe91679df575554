// SPDX-License-Identifier: BSD-3-Clause

// The octree, distributed over all ranks.
//
// A cell whose bodies all belong to one rank belongs to that rank and is stored in its window. The
// other cells, at most 21 for each border between two ranks, form the top of the tree: rank 0
// builds them from the ranks' subtrees, and each is stored on the rank of its first body. Every
// cell therefore exists on its owner alone, and all other ranks read it with gets.
#pragma once

#include <mpi.h>

#include <vector>

#include "body.h"
#include "node_window.h"

namespace barnes_hut {

struct DistributedTree {
  Ref root;
  std::vector<Ref> leaves;  // of this rank's bodies
};

/// Collective. Builds the tree of all bodies in the windows. pre: `bodies` is as distribute() left
/// it; no rank is reading the windows.
DistributedTree build_distributed_tree(MPI_Comm comm, const Cube& root, double theta,
                                       const std::vector<Body>& bodies, NodeWindow& window);

}  // namespace barnes_hut
