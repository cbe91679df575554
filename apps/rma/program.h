// SPDX-License-Identifier: BSD-3-Clause

// Declarations shared by the programs in this directory: main(), a job, and windows accessed in
// lock_all.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "rma/options.h"

namespace rma_apps {

struct Job {
  MPI_Comm comm;
  int rank, ranks;
  Options options;

  void barrier() const { MPI_Barrier(comm); }
  bool all(bool value) const {
    int every = value;
    MPI_Allreduce(MPI_IN_PLACE, &every, 1, MPI_INT, MPI_LAND, comm);
    return every != 0;
  }
  std::uint64_t sum(std::uint64_t value) const {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, comm);
    return value;
  }
};

/// A window of `count` zeroed elements on each rank. Its memory is either allocated by MPI, which
/// is best if MPI can choose it, or the program's own.
template <class Element>
class Window {
 public:
  Window(const Job& job, std::int64_t count) : job_(job) {
    const MPI_Aint bytes = count * static_cast<MPI_Aint>(sizeof(Element));
    if (!job.options.allocated) {
      own_.resize(static_cast<std::size_t>(count));
      memory_ = own_.data();
      MPI_Win_create(memory_, bytes, sizeof(Element), MPI_INFO_NULL, job.comm, &handle_);
      return;
    }
    MPI_Win_allocate(bytes, sizeof(Element), MPI_INFO_NULL, job.comm, &memory_, &handle_);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, job.rank, 0, handle_);
    std::uninitialized_value_construct_n(memory_, count);
    MPI_Win_unlock(job.rank, handle_);
    job.barrier();  // no rank may write before this
  }
  ~Window() { MPI_Win_free(&handle_); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Win handle() const { return handle_; }
  Element* memory() { return memory_; }
  const Element* memory() const { return memory_; }

  void open() const { MPI_Win_lock_all(0, handle_); }
  void close() const { MPI_Win_unlock_all(handle_); }
  /// Makes everything that any rank has written so far visible in memory to all ranks. pre: in
  /// lock_all
  void meet() const {
    MPI_Win_flush_all(handle_);
    MPI_Win_sync(handle_);
    job_.barrier();
    MPI_Win_sync(handle_);
  }

 private:
  const Job& job_;
  std::vector<Element> own_;
  Element* memory_ = nullptr;
  MPI_Win handle_ = MPI_WIN_NULL;
};

/// Calls `work` on all ranks at the same time and records the time until all have finished.
template <class Work>
void timed(const Job& job, Outcome& outcome, Work work) {
  job.barrier();
  const double start = MPI_Wtime();
  work();
  job.barrier();
  outcome.seconds.push_back(MPI_Wtime() - start);
}

/// Runs the whole program and returns its exit code, which is 1 if the result is wrong.
template <class Run>
int program(const Program& program, int argc, char** argv, Run run) {
  MPI_Init(&argc, &argv);
  Job job{MPI_COMM_WORLD, 0, 0, {}};
  MPI_Comm_rank(job.comm, &job.rank);
  MPI_Comm_size(job.comm, &job.ranks);
  const Parsed parsed = parse(program, argc, argv);
  int code = parsed.exit_code;
  if (code < 0) {
    job.options = parsed.options;
    const Outcome outcome = run(job);
    if (job.rank == 0) std::fputs(text(program, job.options, job.ranks, outcome).c_str(), stdout);
    code = outcome.correct ? 0 : 1;
  } else if (job.rank == 0) {
    std::fputs(parsed.text.c_str(), code == 0 ? stdout : stderr);
  }
  std::fflush(nullptr);
  MPI_Finalize();
  return code;
}

}  // namespace rma_apps
