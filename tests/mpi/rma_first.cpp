// The first windows of a job, during which the RMA engine is set up: made by threads at the same
// time, in another order on each rank; with a rank so late that others continue without it; with
// one whose engine is another; and with ranks that are stopped meanwhile.
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "check.h"

namespace {

using check::rank;
using check::ranks;

// Every rank adds to the next one's word, through a window on `comm`.
void use(MPI_Comm comm, int64_t times) {
  int64_t memory = 0;
  MPI_Win win;
  MPI_Win_create(&memory, 8, 8, MPI_INFO_NULL, comm, &win);
  const int64_t one = 1;
  MPI_Win_lock_all(0, win);
  for (int64_t i = 0; i < times; ++i)
    MPI_Accumulate(&one, 1, MPI_INT64_T, (rank + 1) % ranks, 0, 1, MPI_INT64_T, MPI_SUM, win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(comm);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  EXPECT_EQ(memory, times);
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
}

void of_threads() {
  constexpr int threads = 6;
  std::vector<MPI_Comm> comms(threads);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(check::world, &comm);
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    const int which = (i + 2 * rank) % threads;
    all.emplace_back([&comms, which] {
      usleep(static_cast<useconds_t>(1000 * ((which * 7 + rank * 5) % 4)));
      use(comms[static_cast<size_t>(which)], which + 1);
    });
  }
  for (std::thread& each : all) each.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  using Most = int (*)();
  if (const auto most = reinterpret_cast<Most>(dlsym(RTLD_DEFAULT, "shim_most_at_once")))
    EXPECT_EQ(most(), 1);
}

// Later than any rank waits (mpi/process/patience.h).
void with_a_late_rank() {
  MPI_Comm other;
  MPI_Comm_dup(check::world, &other);
  if (rank == ranks - 1) sleep(12);
  use(check::world, 5);  // the host's windows, on all ranks
  use(check::world, 6);
  use(other, 7);  // the engine's windows: all ranks have arrived
  MPI_Comm_free(&other);
}

// As if it had been built for another byte order, or from other sources.
void with_another_engine() {
  using Distort = void (*)(unsigned long);
  const auto distort = reinterpret_cast<Distort>(dlsym(RTLD_DEFAULT, "shim_distort"));
  if (distort == nullptr) return check::skip("nothing distorts what ranks say of themselves");
  if (rank == 1) distort(0x0550);
  use(check::world, 5);  // the host's windows, on all ranks
  use(check::world, 6);
}

// Stops all ranks, as batch systems do with a job, for longer than any rank waits; that time must
// not count.
void of_a_job_that_is_stopped() {
  const pid_t self = getpid(), other = fork();
  if (other == 0) {
    usleep(300000);
    kill(self, SIGSTOP);
    sleep(12);
    kill(self, SIGCONT);
    _exit(0);
  }
  if (rank == ranks - 1) usleep(1000000);
  use(check::world, 5);
  waitpid(other, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  return check::run(argc, argv, 2,
                    {{"of_threads", of_threads},
                     {"with_a_late_rank", with_a_late_rank},
                     {"with_another_engine", with_another_engine},
                     {"of_a_job_that_is_stopped", of_a_job_that_is_stopped}},
                    MPI_THREAD_MULTIPLE);
}
