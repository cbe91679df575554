// SPDX-License-Identifier: BSD-3-Clause

// The nodes of all ranks, in one MPI window.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "node.h"

namespace barnes_hut {

/// Alternates between two phases: the owners write their nodes (begin_tree to end_tree), then all
/// ranks read (until end_reading). The info key `nearcache_mode=user` promises exactly this to a
/// caching layer; other libraries ignore the key.
class NodeWindow {
 public:
  /// Local. `block`: see Placement.
  NodeWindow(MPI_Comm comm, std::uint64_t block);
  /// Collective.
  ~NodeWindow();
  NodeWindow(const NodeWindow&) = delete;
  NodeWindow& operator=(const NodeWindow&) = delete;

  /// Collective. Discards all nodes and makes room for a tree in which this rank has `bodies`
  /// bodies.
  void begin_tree(MPI_Comm comm, std::uint64_t bodies);
  /// Local, between begin_tree and end_tree.
  Ref add(const Leaf& leaf) {
    return store(Ref::to(rank_, placement_.take(sizeof leaf), true), leaf);
  }
  Ref add(const Cell& cell) {
    return store(Ref::to(rank_, placement_.take(sizeof cell), false), cell);
  }
  const Placement& placement() const { return placement_; }
  void put_own(Ref where, const Cell& cell) { store(where, cell); }
  /// Collective. Makes everything that was written visible to all ranks.
  void end_tree(MPI_Comm comm);
  /// Local. Makes caching layers drop their contents. pre: all ranks have agreed that none of them
  /// is still reading
  void end_reading();

  /// Size of each rank's memory; a multiple of the block.
  std::uint64_t bytes() const { return bytes_; }
  bool is_own(Ref ref) const { return ref.rank == rank_; }
  /// pre: is_own(ref), and the node is a `Node`
  template <class Node>
  const Node& own(Ref ref) const {
    return *reinterpret_cast<const Node*>(memory_ + ref.place() * unit_bytes);
  }

  /// Fetches `bytes` bytes at `place` (in units) from another rank; complete on return. Throws
  /// apps::Failure.
  void get(int target, std::uint64_t place, std::uint64_t bytes, void* into) {
    const auto count = static_cast<int>(bytes);
    check(MPI_Get(into, count, MPI_BYTE, target, static_cast<MPI_Aint>(place), count, MPI_BYTE,
                  window_),
          "MPI_Get");
    check(MPI_Win_flush(target, window_), "MPI_Win_flush");
  }

 private:
  template <class Node>
  Ref store(Ref where, const Node& node) {
    std::memcpy(memory_ + where.place() * unit_bytes, &node, sizeof node);
    return where;
  }
  void create(MPI_Comm comm, std::uint64_t bytes);
  void free();

  static void check(int code, const char* call) {
    if (code != MPI_SUCCESS) fail(code, call);
  }
  [[noreturn]] static void fail(int code, const char* call);

  int rank_ = 0;
  std::uint64_t block_, bytes_ = 0;
  std::byte* memory_ = nullptr;
  Placement placement_;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace barnes_hut
