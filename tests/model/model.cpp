// Random programs against an uncached oracle (oracle.h): windows on random communicators, random
// datatypes on both sides, all modes, all kinds of epochs. Every byte of every destination is
// checked, gaps included, and all window memory after every phase.
//
//   model [--seed N] [--ops N] [--phases N] [--sessions] [--coherent] [--without-DRAW ...]
//
// DRAW is derived-accumulates, or a member of `Without` in live.h. --coherent selects mode coherent
// only, and programs in which it keeps data across acquires: many acquires, and few phases that
// change anything.
//
// Prints `ok model` and `model: seed N, M operations, ...`, or the first difference.
#include "live.h"

namespace {

using namespace model;

int64_t gets_per_phase = 80;
int64_t phases = 10;
// This many gets of about thirty places must include hits, whatever their sizes.
constexpr uint64_t gets_that_hit = 3000;

#if MPI_VERSION >= 4
// Must outlive the communicator made from it.
MPI_Session session = MPI_SESSION_NULL;

MPI_Comm session_communicator() {
  if (session == MPI_SESSION_NULL) {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  }
  return check::session_world(session, "model");
}

void end_session() {
  if (session != MPI_SESSION_NULL) {
    MPI_Session_finalize(&session);
  }
}
#else
MPI_Comm session_communicator() { return MPI_COMM_NULL; }
void end_session() {}
#endif

// Returns a communicator for the windows of one episode: of all ranks, a copy of the world, one of
// two halves, or one made from a session.
MPI_Comm random_communicator(Random& random) {
  MPI_Comm made;
  if (MPI_VERSION >= 4 && !without.sessions && below(random, 4) == 0) {
    return session_communicator();
  }
  if (below(random, coherent_only ? 8 : 3) == 0) {
    MPI_Comm_split(check::world, check::rank % 2, -check::rank, &made);  // in reverse order
  } else {
    MPI_Comm_dup(check::world, &made);
  }
  return made;
}

// Rejects single-rank windows, which Open MPI 4.1.4 refuses.
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
    for (Live& window : windows) {
      Random phase_random(episode_seed * 31 + phase);
      window.phase(phase_random, own, (int)gets_per_phase);
    }
  }
  for (Live& window : windows) {
    MPI_Comm comm = window.comm();
    window.free();
    MPI_Comm_free(&comm);
  }
  end_session();
  free_shapes(shapes);
}

int64_t argument(const char* name, int64_t otherwise) {
  for (size_t i = 0; i + 1 < check::rest.size(); i++) {
    if (check::rest[i] == name) {
      return std::stoll(check::rest[i + 1]);
    }
  }
  return otherwise;
}

bool flag(const char* name) { return check::listed(check::rest, name); }

void random_programs() {
  derived_puts_only = flag("--without-derived-accumulates");
  without = {flag("--without-requests"),  flag("--without-status"),      flag("--without-sessions"),
             flag("--without-odd-calls"), flag("--without-odd-flushes"), flag("--without-failures"),
             flag("--without-twins"),     flag("--without-locks")};
  coherent_only = flag("--coherent");
  if (coherent_only) {  // many acquires, after which the same places are read
    phases = 20;
    gets_per_phase = 40;
  }
  phases = argument("--phases", phases);
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
    std::printf(
        "model: up to seed %llu, %lld operations; rank 0 had %llu gets, %llu full, %llu pending, "
        "%llu partial hits; %llu across acquires by %llu validations, %llu announcements (%llu "
        "ended), %llu looks\n",
        (unsigned long long)seed, (long long)all, (unsigned long long)stats.gets,
        (unsigned long long)stats.hits_full, (unsigned long long)stats.hits_pending,
        (unsigned long long)stats.hits_partial, (unsigned long long)stats.hits_kept,
        (unsigned long long)stats.validations, (unsigned long long)stats.announcements,
        (unsigned long long)stats.announcements_ended, (unsigned long long)stats.store_looks);
  }
  // All windows may have drawn modes in which such hits do not occur.
  const uint64_t mine[5] = {stats.hits_full, stats.hits_pending, (uint64_t)gets_kept,
                            (uint64_t)gets_joined, stats.hits_kept};
  uint64_t sums[5];
  HIDDEN(MPI_Allreduce)(mine, sums, 5, MPI_UINT64_T, MPI_SUM, check::hidden_comm);
  EXPECT_CACHED(sums[0] > 0 || sums[2] < gets_that_hit);
  EXPECT_CACHED(sums[1] > 0 || sums[3] < gets_that_hit);
  EXPECT_CACHED(!coherent_only || all < 10000 || (int64_t)sums[4] > all / 1000);
}

}  // namespace

int main(int argc, char** argv) { return check::run(argc, argv, 2, {{"model", random_programs}}); }
