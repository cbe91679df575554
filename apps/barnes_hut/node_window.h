// The nodes of all ranks as one MPI window.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "node.h"

namespace barnes_hut {

/// Two phases in turn: the owner writes its nodes (begin_tree .. end_tree), then all ranks read (to
/// end_reading). That is what the info key `nearcache_mode=user` promises to a caching layer; other
/// libraries ignore the key.
class NodeWindow {
 public:
  /// Local. `block`: see Placement.
  NodeWindow(MPI_Comm comm, std::uint64_t block);
  /// Collective.
  ~NodeWindow();
  NodeWindow(const NodeWindow&) = delete;
  NodeWindow& operator=(const NodeWindow&) = delete;

  /// Collective. Forgets the nodes; makes room for those of a tree of which this rank has `bodies`
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
  /// Collective. What was written is there for all.
  void end_tree(MPI_Comm comm);
  /// Local. Caching layers drop what they hold. pre: all ranks have agreed that no one reads any
  /// more
  void end_reading();

  /// Of every rank's memory; a multiple of the block.
  std::uint64_t bytes() const { return bytes_; }
  bool is_own(Ref ref) const { return ref.rank == rank_; }
  /// pre: is_own(ref), and of this kind
  template <class Node>
  const Node& own(Ref ref) const {
    return *reinterpret_cast<const Node*>(memory_ + ref.place() * unit_bytes);
  }

  /// Fetches `bytes` from `place` (in units) of another rank, complete on return. Throws
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
