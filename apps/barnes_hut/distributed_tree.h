// The octree over all ranks.
//
// A cell whose bodies belong to one rank is that rank's and lies in its window. The others, at most
// 21 for each border between two ranks, are the top of the tree: rank 0 joins them from the parts,
// and they are stored with the rank of their first body. So no rank but the owner has a cell, and
// everybody reads all cells of others by gets.
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

/// Collective. Builds the tree of all bodies into the windows. pre: `bodies` as distribute() left
/// them; no rank reads the windows.
DistributedTree build_distributed_tree(MPI_Comm comm, const Cube& root, double theta,
                                       const std::vector<Body>& bodies, NodeWindow& window);

}  // namespace barnes_hut
