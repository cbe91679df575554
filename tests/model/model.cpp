// Random programs against an uncached oracle (oracle.h): windows on random communicators, random datatypes on
// both sides, all modes, all kinds of epochs. Every byte of every destination is checked, gaps included, and all
// window memory after every phase.
//
//   model [--seed N] [--ops N] [--without-requests] [--without-derived-accumulates]
//
// prints `ok model` and `model: seed N, M operations, ...`, or what differs first
#include "live.h"

namespace {

using namespace model;

constexpr int gets_per_phase = 80, phases = 10;

// The windows of one episode: on all ranks, on a copy of the world, on two halves.
MPI_Comm random_communicator(Random &random) {
  MPI_Comm made;
  if (below(random, 3) == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, check::rank % 2, -check::rank, &made);  // in reverse order
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
  }
  return made;
}

// Single-rank windows are left out: Open MPI 4.1.4 refuses them.
bool large_enough(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size > 1;
}

void episode(uint64_t episode_seed) {
  Random common(episode_seed);
  Random own(episode_seed * 1000003 + check::rank);
  shapes = random_shapes(common, 16);
  std::vector<Live> windows;
  const int64_t many = 1 + below(common, 3);
  for (int64_t i = 0; i < many; i++) {
    Random window_random(common());  // so that ranks stay in step although halves differ
    MPI_Comm comm = random_communicator(window_random);
    if (large_enough(comm)) {
      windows.emplace_back(window_random, comm);
    } else {
      MPI_Comm_free(&comm);
    }
  }
  for (int phase = 0; phase < phases; phase++) {
    for (Live &window : windows) {
      Random phase_random(episode_seed * 31 + phase);
      window.phase(phase_random, own, gets_per_phase);
    }
  }
  for (Live &window : windows) {
    MPI_Comm comm = window.comm();
    window.free();
    MPI_Comm_free(&comm);
  }
  free_shapes(shapes);
}

int64_t argument(const char *name, int64_t otherwise) {
  for (size_t i = 0; i + 1 < check::rest.size(); i++) {
    if (check::rest[i] == name) {
      return std::stoll(check::rest[i + 1]);
    }
  }
  return otherwise;
}

bool flag(const char *name) { return check::listed(check::rest, name); }

void random_programs() {
  without_requests = flag("--without-requests");
  derived_puts_only = flag("--without-derived-accumulates");
  seed = (uint64_t)argument("--seed", 1);
  const int64_t wanted = argument("--ops", 20000);
  int64_t all = 0;
  int failed = 0;
  for (; all < wanted && !failed; seed++) {
    episode(seed);
    HIDDEN(MPI_Allreduce)(&operations, &all, 1, MPI_INT64_T, MPI_SUM, check::hidden_comm);
    HIDDEN(MPI_Allreduce)(&check::failures, &failed, 1, MPI_INT, MPI_MAX, check::hidden_comm);
  }
  const nearcache_stats stats = check::stats(MPI_WIN_NULL);
  if (check::rank == 0) {
    std::printf("model: up to seed %llu, %lld operations; rank 0 had %llu gets, %llu full, %llu pending, %llu partial hits\n",
                (unsigned long long)seed, (long long)all, (unsigned long long)stats.gets,
                (unsigned long long)stats.hits_full, (unsigned long long)stats.hits_pending,
                (unsigned long long)stats.hits_partial);
  }
  const uint64_t mine[2] = {stats.hits_full, stats.hits_pending};
  uint64_t hits[2];
  HIDDEN(MPI_Allreduce)(mine, hits, 2, MPI_UINT64_T, MPI_SUM, check::hidden_comm);
  EXPECT_CACHED(hits[0] > 0 && hits[1] > 0);
}

}  // namespace

int main(int argc, char **argv) { return check::run(argc, argv, 2, {{"model", random_programs}}); }
