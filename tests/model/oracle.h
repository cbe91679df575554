// The contents that every window must have, known to every rank without communication: all ranks
// draw the same plan of writes from the common seed and apply it to their own copies of all
// windows.
//
// A phase's plan assigns each byte to at most one writer, so the program is correct MPI: in a phase
// a rank reads only bytes that nobody writes, or that it wrote itself and flushed. Any rank may add
// to the words of `sums`.
#ifndef NEARCACHE_TESTS_ORACLE_H
#define NEARCACHE_TESTS_ORACLE_H

#include "layouts.h"

namespace model {

enum class Sync { fence, pscw, lock_all, lock, held };

// One shape of data and several ways to lay it out, all with the same number of units.
struct Shape {
  const Unit* unit;
  int units;
  bool accumulable;  // made of one basic type
  std::vector<Layout> layouts;
};

// A place that gets and writes use repeatedly.
struct Spot {
  int target, shape, layout, count;
  int64_t base;  // byte that the displacement refers to
};

enum class Kind {
  put,
  rput,
  accumulate,
  raccumulate,
  get_accumulate,
  fetch_and_op,
  compare_and_swap,
  sum,
  locked,
  guarded
};

struct Write {
  Kind kind;
  int writer;
  Spot spot;
  std::vector<uint8_t> payload;  // packed
  bool done;                     // issued by its writer in this phase
};

struct Store {  // a plain store of the owner, at the start of a phase
  int owner;
  int64_t at;
  std::vector<uint8_t> bytes;
};

// accumulates use single words only, as some hosts get those of derived types wrong
inline bool derived_puts_only;

struct Plan {
  Sync sync;
  std::vector<Write> writes;
  std::vector<Store> stores;
};

constexpr uint8_t nobody = 0, everybody = 255;

// One window as the oracle sees it.
struct Oracle {
  int size;                     // ranks
  bool rarely_changed = false;  // in most phases nobody writes
  // phases with writers come in runs; in each, the writers are the owners, other ranks, or both
  bool steps = false;
  // mode always: bytes are written only if they are private to one reader, and by that reader
  bool read_only_common;
  std::vector<int64_t> bytes;
  std::vector<std::vector<uint8_t>> content;  // after the current phase
  std::vector<std::vector<uint8_t>> before;   // before the current phase
  // in the current phase: nobody, rank + 1, or everybody
  std::vector<std::vector<uint8_t>> writer;
  std::vector<Spot> spots;
  int64_t busy = 0;  // phases left in the current run

  void make_spots(Random& random, const std::vector<Shape>& shapes, int many);
  bool may_read(int reader, const Spot& spot, const std::vector<Shape>& shapes,
                const std::vector<std::vector<uint8_t>>& ready) const;
  // `cached`: what was read stays cached for the whole phase, so no rank may wait for another's
  // writes in it.
  Plan plan_phase(Random& random, const std::vector<Shape>& shapes, Sync sync, bool cached);
  void apply(const Write& write, const std::vector<Shape>& shapes);

 private:
  bool may_write(int rank, int target, const std::vector<Block>& blocks, int64_t base) const;
  void add_write(Random& random, const std::vector<Shape>& shapes, Plan& plan);
  void add_sum(Random& random, Plan& plan, Kind kind);
  void add_store(Random& random, Plan& plan);
  bool private_to(int rank, int target, int64_t from, int64_t to) const;
};

std::vector<Shape> random_shapes(Random& random, int many);
void free_shapes(std::vector<Shape>& shapes);

}  // namespace model

#endif
