// Random datatypes together with the typemaps that the oracle expects of them.
//
// The typemap is computed here from the arguments of the constructors. MPI is asked only for the
// extents of the parts, since they depend on alignment. A wrong typemap in the cache therefore
// cannot hide in the oracle.
#ifndef NEARCACHE_TESTS_LAYOUTS_H
#define NEARCACHE_TESTS_LAYOUTS_H

#include <mpi.h>

#include <cstdint>
#include <random>
#include <vector>

namespace model {

using Random = std::mt19937_64;

inline int64_t below(Random& random, int64_t limit) {
  return (int64_t)(random() % (uint64_t)limit);
}

struct Block {
  int64_t offset, bytes;
};

// A committed datatype of `units` units, and the positions of its bytes in transfer order.
struct Layout {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<Block> blocks;
  MPI_Aint lb = 0, extent = 0;
  bool predefined = false;
};

// The unit of both sides of a transfer: one predefined datatype; pair types are included.
struct Unit {
  MPI_Datatype type;
  std::vector<Block> blocks;
  int64_t extent;
};

const std::vector<Unit>& units();

// Returns the bytes of `count` consecutive elements.
std::vector<Block> blocks_of(const Layout& layout, int count);

// Returns `units` units of `unit` in a random arrangement without overlaps.
Layout random_layout(Random& random, const Unit& unit, int units);
Layout contiguous_layout(const Unit& unit);
void free_layout(Layout& layout);

}  // namespace model

#endif
