// SPDX-License-Identifier: BSD-3-Clause

// A read-only MPI window over one array of every rank.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace apps {

/// The memory that a rank exposes: `bytes` of memory holding elements of `type`, `unit` bytes each.
struct Exposed {
  const void* memory;
  std::uint64_t bytes;
  int unit;
  MPI_Datatype type;
};

/// Open for gets (lock_all) from construction to destruction. The memory is never written in that
/// time, which the info key `nearcache_mode=always` promises to a caching layer; other libraries
/// ignore the key.
class ReadWindow {
 public:
  /// Collective. pre: the memory outlives the window and does not move. With one rank no window is
  /// created: nobody would use it, and Open MPI 4 refuses to create it.
  ReadWindow(MPI_Comm comm, const Exposed& exposed, const char* name);
  /// Collective. Ranks may arrive at different times.
  ~ReadWindow();
  ReadWindow(const ReadWindow&) = delete;
  ReadWindow& operator=(const ReadWindow&) = delete;

  /// Starts fetching `count` elements at `displacement` (in elements) into `into`. Throws Failure.
  void get(int target, std::uint64_t displacement, std::uint64_t count, void* into) {
    const auto elements = static_cast<int>(count);
    check(MPI_Get(into, elements, type_, target, static_cast<MPI_Aint>(displacement), elements,
                  type_, window_),
          "MPI_Get");
    if (is_asked_[static_cast<std::size_t>(target)]) return;
    is_asked_[static_cast<std::size_t>(target)] = 1;
    asked_.push_back(target);
  }

  /// Completes all gets from `target`, or from all ranks. The latter flushes targets one by one
  /// because MPI_Win_flush_all of MPICH 4.0.2 returns before all data has arrived. Throws Failure.
  void flush(int target) { check(MPI_Win_flush(target, window_), "MPI_Win_flush"); }
  void flush_all() {
    for (const int target : asked_) {
      flush(target);
      is_asked_[static_cast<std::size_t>(target)] = 0;
    }
    asked_.clear();
  }

 private:
  static void check(int code, const char* call) {
    if (code != MPI_SUCCESS) fail(code, call);
  }
  [[noreturn]] static void fail(int code, const char* call);

  MPI_Datatype type_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<char> is_asked_;  // by rank: gets were issued since the last flush_all
  std::vector<int> asked_;
};

}  // namespace apps
