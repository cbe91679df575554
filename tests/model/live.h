// A live window: the operations that this rank has in flight on it, and how they complete.
#ifndef NEARCACHE_TESTS_LIVE_H
#define NEARCACHE_TESTS_LIVE_H

#include <deque>

#include "../mpi/check.h"
#include "oracle.h"

namespace model {

inline uint64_t seed = 1;
inline int64_t operations;         // of this rank
inline std::vector<Shape> shapes;  // of this episode

// What is never drawn: calls that a host MPI gets wrong itself (tests/support/host_defects.py), and
// features that one turns off to find the cause of a difference.
struct Without {
  bool requests;     // MPI_Rget
  bool status;       // MPI_Request_get_status
  bool sessions;     // communicators of sessions
  bool odd_calls;    // to MPI_PROC_NULL, and to ranks that no window has
  bool odd_flushes;  // the flushes and unlocks among the odd calls
  bool failures;     // failing gets, flushes, waits and tests, injected by the lazy MPI
  bool twins;        // two windows over the same memory
  bool locks;        // epochs of MPI_Win_lock
};
inline Without without;
inline bool coherent_only;  // all windows are coherent, and few phases change anything

// Gets of this rank that the cache may answer by full hits (modes always and user) or by pending
// hits (transparent).
inline int64_t gets_kept, gets_joined;

// An origin buffer with canaries around and between its data, and its expected final contents.
struct Buffer {
  explicit Buffer(const std::vector<Block>& blocks);
  void* address() { return actual.data() + origin; }
  static uint8_t canary(size_t at) { return (uint8_t)(0xC0 + at % 61); }

  std::vector<uint8_t> actual, expected;
  int64_t origin;  // offset of the address passed to MPI
};

// A get, or the result of a fetching accumulate, that MPI has not completed yet.
struct Pending {
  Buffer buffer;
  Spot spot;
  const char* what;
  MPI_Request request = MPI_REQUEST_NULL;
};

// A write that is not yet complete at its origin.
struct Writing {
  const Write* write;
  std::vector<uint8_t> origin;
  MPI_Request request = MPI_REQUEST_NULL;
};

// Returns the lazy MPI's counter of calls still to fail without doing anything; null if the lazy
// MPI is not loaded.
inline int* lazy_mpi_failing() {
  static int* const counter = (int*)dlsym(RTLD_DEFAULT, "lazy_mpi_failing");
  return counter;
}

class Live {
 public:
  Live(Random& random, MPI_Comm of);  // collective; `random` is the same on all ranks
  void phase(Random& common, Random& own, int gets);
  void free();
  MPI_Comm comm() const { return communicator; }

 private:
  void create(Random& random);
  void store(const Plan& plan);
  void run_active(Random& own, Plan& plan, int gets);
  void run_passive(Random& own, Plan& plan, int gets);
  void run_locks(Random& own, Plan& plan, int gets);
  void act(Random& own, Plan& plan, int target, bool passive);
  void get(Random& own, const Spot& spot, bool passive);
  void odd_call(Random& own, bool passive);
  void take_turns();
  void meet(Random& common);
  bool write_next(Random& own, Plan& plan, int target, bool passive);
  void issue(Random& own, const Write& write);
  void synchronise(Random& own, int target);
  void learn(Random& own, bool passive);
  void wait_requests(Random& own);
  void look_at_requests(Random& own);
  void completed(int target, bool at_target);
  void check_memory();
  void explain(const Pending& get) const;

  MPI_Comm communicator;
  std::vector<MPI_Win> windows;  // all over the same memory
  MPI_Win win = MPI_WIN_NULL;    // the window that this phase uses
  int rank, size, unit;
  std::vector<int> units_of_targets;
  const char* mode;
  bool allocated, user_writes;
  Sync style;
  bool mixed;
  Sync present;  // kind of this phase's epochs
  Plan* current = nullptr;
  uint8_t* memory = nullptr;
  Oracle oracle;
  std::vector<std::vector<uint8_t>> ready;  // bytes this rank wrote and flushed in this phase
  std::deque<Pending> pending;
  // requests that are known to be complete, and their overwritten buffers
  std::deque<Pending> looked_at;
  std::deque<Writing> writing;
};

}  // namespace model

#endif
