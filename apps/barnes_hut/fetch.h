// SPDX-License-Identifier: BSD-3-Clause

// Reading nodes wherever they are stored: the only place where the ways to fetch differ.
//
// A Fetch provides `node<Cell>(ref)` and `node<Leaf>(ref)`; the returned reference is valid until
// the next call. Every Fetch reads the rank's own nodes in place.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <tuple>

#include "block_cache.h"
#include "node_window.h"

namespace barnes_hut {

struct FetchCount {
  std::uint64_t remote = 0;  // nodes of other ranks that were read
  std::uint64_t gets = 0, bytes = 0;
  std::uint64_t hits = 0;  // in the native cache
};

/// Issues one get and one flush for each access to a node of another rank. With Nearcache preloaded
/// or linked, these same calls are served from its cache.
class PlainFetch {
 public:
  explicit PlainFetch(NodeWindow& window) : window_(window) {}

  template <class Node>
  const Node& node(Ref ref) {
    if (window_.is_own(ref)) return window_.own<Node>(ref);
    Node& buffer = std::get<Node>(buffers_);
    window_.get(ref.rank, ref.place(), sizeof(Node), &buffer);
    ++count_.remote;
    ++count_.gets;
    count_.bytes += sizeof(Node);
    return buffer;
  }
  void end_phase() {}
  const FetchCount& count() const { return count_; }

 private:
  NodeWindow& window_;
  std::tuple<Cell, Leaf> buffers_;
  FetchCount count_;
};

/// The hand-written cache that Nearcache is compared with; see BlockCache.
class NativeFetch {
 public:
  NativeFetch(NodeWindow& window, MPI_Comm comm, const Options& options)
      : window_(window),
        comm_(comm),
        cache_(options.native_memory, options.block, options.mapping) {}

  template <class Node>
  const Node& node(Ref ref) {
    if (window_.is_own(ref)) return window_.own<Node>(ref);
    ++count_.remote;
    const std::uint64_t at = ref.place() * unit_bytes, block = at / cache_.block_bytes();
    BlockCache::Line line = cache_.find(ref.rank, static_cast<std::uint32_t>(block),
                                        window_.bytes() / cache_.block_bytes());
    if (line.hit) {
      ++count_.hits;
      if (++served_ == poll_calls) poll();
    } else {
      served_ = 0;
      window_.get(ref.rank, block * cache_.block_bytes() / unit_bytes, cache_.block_bytes(),
                  line.data);
      ++count_.gets;
      count_.bytes += cache_.block_bytes();
      cache_.keep(line, ref.rank, static_cast<std::uint32_t>(block));
    }
    return *reinterpret_cast<const Node*>(line.data + at % cache_.block_bytes());
  }
  void end_phase() { cache_.invalidate(); }
  const FetchCount& count() const { return count_; }

 private:
  // MPI libraries that make progress on one-sided traffic only inside MPI calls would keep other
  // ranks waiting while this rank is served from its own cache. Nearcache polls equally often.
  static constexpr int poll_calls = 16;
  void poll();

  NodeWindow& window_;
  MPI_Comm comm_;
  BlockCache cache_;
  FetchCount count_;
  int served_ = 0;
};

}  // namespace barnes_hut
