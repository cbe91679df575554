// For cases in which a rank is killed. The others do not finalize the host's MPI, which would wait
// for the dead rank.
#ifndef NEARCACHE_TESTS_KILLED_H
#define NEARCACHE_TESTS_KILLED_H

#include <csignal>
#include <cstdlib>

#include "check.h"

// Returns the process of rank 0, which computes meanwhile.
inline pid_t before_a_kill() {
  std::signal(SIGUSR1, SIG_IGN);  // Hydra reports the death by this signal, which would end them
  int first = getpid();
  MPI_Bcast(&first, 1, MPI_INT, 0, check::world);
  return first;
}

// Says how the case has gone, and ends this rank and rank 0.
[[noreturn]] inline void end_after_a_kill(pid_t first) {
  std::printf("%s %s\n", check::failures == 0 ? "ok" : "FAILED", check::current.c_str());
  std::fflush(stdout);
  kill(first, SIGKILL);
  std::_Exit(0);
}

#endif
