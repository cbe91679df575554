// SPDX-License-Identifier: BSD-3-Clause

// Dynamic sparse data exchange (foMPI paper, section 4.2): each rank has data for six others,
// chosen anew each time, and no rank knows who has data for it. Four protocols find out: alltoall
// and reduce_scatter count with a collective call; nbx sends synchronously and enters a
// non-blocking barrier once all of its own messages have been received; accumulate adds to a
// counter in each target's window between two fences. All of them send the data itself as messages.
#include <mpi.h>

#include <array>
#include <vector>

#include "common/hash.h"
#include "rma/program.h"

namespace rma_apps {
namespace {

constexpr int k = 6;

// What one rank sends to others in one exchange.
struct Parcels {
  std::array<int, k> to;
  std::array<std::uint64_t, k> data;
};

Parcels parcels_of(const Job& job, std::int64_t exchange) {
  Parcels parcels;
  std::uint64_t state = apps::mix64(static_cast<std::uint64_t>(exchange * job.ranks + job.rank));
  for (std::size_t i = 0; i < k; ++i) {
    state = apps::mix64(state);
    parcels.to[i] = static_cast<int>(state % static_cast<std::uint64_t>(job.ranks));
    parcels.data[i] = apps::mix64(state ^ 1);
  }
  return parcels;
}

class Exchange {
 public:
  explicit Exchange(const Job& job) : job_(job), counters_(job, 2) {
    MPI_Win_fence(0, counters_.handle());
  }
  ~Exchange() { MPI_Win_fence(MPI_MODE_NOSUCCEED, counters_.handle()); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  using Protocol = void (Exchange::*)(const Parcels&);

  void alltoall(const Parcels& parcels) {
    std::vector<int> mine = counts(parcels), theirs(mine.size());
    MPI_Alltoall(mine.data(), 1, MPI_INT, theirs.data(), 1, MPI_INT, job_.comm);
    int expected = 0;
    for (const int count : theirs) expected += count;
    deliver(parcels, expected);
  }

  void reduce_scatter(const Parcels& parcels) {
    const std::vector<int> mine = counts(parcels);
    int expected = 0;
    MPI_Reduce_scatter_block(mine.data(), &expected, 1, MPI_INT, MPI_SUM, job_.comm);
    deliver(parcels, expected);
  }

  void nbx(const Parcels& parcels) {
    const int tag = tag_of_this();
    std::array<MPI_Request, k> sends;
    for (std::size_t i = 0; i < k; ++i)
      MPI_Issend(&parcels.data[i], 1, MPI_UINT64_T, parcels.to[i], tag, job_.comm, &sends[i]);
    MPI_Request barrier = MPI_REQUEST_NULL;
    for (int met = 0; met == 0;) {
      int here = 0, gone = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, tag, job_.comm, &here, &status);
      if (here != 0) receive(status.MPI_SOURCE, tag);
      if (barrier != MPI_REQUEST_NULL) {
        MPI_Test(&barrier, &met, MPI_STATUS_IGNORE);
      } else {
        MPI_Testall(k, sends.data(), &gone, MPI_STATUSES_IGNORE);
        if (gone != 0) MPI_Ibarrier(job_.comm, &barrier);
      }
    }
  }

  // Alternates between two counters, so that one fence per exchange suffices: it completes the
  // counting, and the fence of the next exchange separates reading this counter from its reuse in
  // the exchange after that.
  void accumulate(const Parcels& parcels) {
    const std::int64_t one = 1;
    const int at = static_cast<int>(exchanges_ % 2);
    for (const int to : parcels.to)
      MPI_Accumulate(&one, 1, MPI_INT64_T, to, at, 1, MPI_INT64_T, MPI_SUM, counters_.handle());
    MPI_Win_fence(0, counters_.handle());
    const auto expected = static_cast<int>(counters_.memory()[at]);
    counters_.memory()[at] = 0;
    deliver(parcels, expected);
  }

  void run(Protocol protocol, std::int64_t exchange) {
    exchanges_ = exchange;
    (this->*protocol)(parcels_of(job_, exchange));
  }

  std::uint64_t received() const { return received_; }
  std::uint64_t sum() const { return sum_; }

 private:
  // Two tags in turn, because messages of the next exchange may arrive before this one is over.
  int tag_of_this() const { return static_cast<int>(exchanges_ % 2); }

  std::vector<int> counts(const Parcels& parcels) const {
    std::vector<int> counts(static_cast<std::size_t>(job_.ranks));
    for (const int to : parcels.to) ++counts[static_cast<std::size_t>(to)];
    return counts;
  }

  void deliver(const Parcels& parcels, int expected) {
    const int tag = tag_of_this();
    std::array<MPI_Request, k> sends;
    for (std::size_t i = 0; i < k; ++i)
      MPI_Isend(&parcels.data[i], 1, MPI_UINT64_T, parcels.to[i], tag, job_.comm, &sends[i]);
    for (int i = 0; i < expected; ++i) receive(MPI_ANY_SOURCE, tag);
    MPI_Waitall(k, sends.data(), MPI_STATUSES_IGNORE);
  }

  void receive(int source, int tag) {
    std::uint64_t data = 0;
    MPI_Recv(&data, 1, MPI_UINT64_T, source, tag, job_.comm, MPI_STATUS_IGNORE);
    ++received_;
    sum_ += apps::mix64(data + static_cast<std::uint64_t>(job_.rank));
  }

  const Job& job_;
  Window<std::int64_t> counters_;
  std::int64_t exchanges_ = 0;
  std::uint64_t received_ = 0, sum_ = 0;
};

Outcome run(const Job& job) {
  const Exchange::Protocol protocol = job.options.way == "alltoall" ? &Exchange::alltoall
                                      : job.options.way == "reduce_scatter"
                                          ? &Exchange::reduce_scatter
                                      : job.options.way == "nbx" ? &Exchange::nbx
                                                                 : &Exchange::accumulate;
  Outcome outcome;
  Exchange exchange(job);
  std::uint64_t sent = 0;
  for (std::int64_t round = 0; round < job.options.rounds; ++round) {
    timed(job, outcome, [&] {
      for (std::int64_t i = 0; i < job.options.size; ++i)
        exchange.run(protocol, round * job.options.size + i);
    });
    for (std::int64_t i = 0; i < job.options.size; ++i) {
      const Parcels parcels = parcels_of(job, round * job.options.size + i);
      for (std::size_t parcel = 0; parcel < k; ++parcel)
        sent += apps::mix64(parcels.data[parcel] + static_cast<std::uint64_t>(parcels.to[parcel]));
    }
  }
  const auto all =
      static_cast<std::uint64_t>(job.options.size * job.options.rounds * job.ranks * k);
  outcome.checksum = job.sum(exchange.sum());
  outcome.correct = job.sum(exchange.received()) == all && outcome.checksum == job.sum(sent);
  return outcome;
}

const Program dsde{"dsde",
                   "Dynamic sparse data exchange.",
                   {"accumulate", "alltoall", "reduce_scatter", "nbx"},
                   "Exchanges of a round",
                   200,
                   5};

}  // namespace
}  // namespace rma_apps

int main(int argc, char** argv) {
  return rma_apps::program(rma_apps::dsde, argc, argv, rma_apps::run);
}
