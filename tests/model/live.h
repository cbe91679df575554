// A live window: what this rank has under way on it, and how that ends.
#ifndef NEARCACHE_TESTS_LIVE_H
#define NEARCACHE_TESTS_LIVE_H

#include <deque>

#include "../mpi/check.h"
#include "oracle.h"

namespace model {

inline uint64_t seed = 1;
inline int64_t operations;         // of this rank
inline std::vector<Shape> shapes;  // of this episode

// What a host MPI gets wrong by itself is left out (tests/mpi/host_defects.py).
inline bool without_requests;             // MPI_Rget

// An origin buffer with canaries around and between its data, and what it must hold at last.
struct Buffer {
  explicit Buffer(const std::vector<Block> &blocks);
  void *address() { return actual.data() + origin; }
  static uint8_t canary(size_t at) { return (uint8_t)(0xC0 + at % 61); }

  std::vector<uint8_t> actual, expected;
  int64_t origin;  // offset of the address given to MPI
};

// A get, or a fetching accumulate's result, that MPI has not completed yet.
struct Pending {
  Buffer buffer;
  Spot spot;
  const char *what;
  MPI_Request request = MPI_REQUEST_NULL;
};

// A write that its origin has not completed yet.
struct Writing {
  const Write *write;
  std::vector<uint8_t> origin;
  MPI_Request request = MPI_REQUEST_NULL;
};

class Live {
 public:
  Live(Random &random, MPI_Comm of);  // collective, `random` common
  void phase(Random &common, Random &own, int gets);
  void free();
  MPI_Comm comm() const { return communicator; }

 private:
  void create(Random &random);
  void store(const Plan &plan);
  void run_active(Random &own, Plan &plan, int gets);
  void run_passive(Random &own, Plan &plan, int gets);
  void run_locks(Random &own, Plan &plan, int gets);
  void act(Random &own, Plan &plan, int target, bool passive);
  void get(Random &own, const Spot &spot, bool passive);
  void odd_get(Random &own);
  bool write_next(Random &own, Plan &plan, int target, bool passive);
  void issue(Random &own, const Write &write);
  void synchronise(Random &own, int target);
  void wait_requests(Random &own);
  void completed(int target, bool at_target);
  void check_memory();
  void explain(const Pending &get) const;

  MPI_Comm communicator;
  MPI_Win win = MPI_WIN_NULL;
  int rank, size, unit;
  std::vector<int> units_of_targets;
  const char *mode;
  bool allocated, user_writes;
  Sync style;
  bool mixed;
  Sync present;  // the phase's
  const Plan *current = nullptr;
  uint8_t *memory = nullptr;
  Oracle oracle;
  std::vector<std::vector<uint8_t>> ready;  // bytes this rank wrote and flushed in this phase
  std::deque<Pending> pending;
  std::deque<Writing> writing;
};

}  // namespace model

#endif
