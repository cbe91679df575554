// Shared by the rows of releases.cpp.
#ifndef NEARCACHE_TESTS_RELEASES_H
#define NEARCACHE_TESTS_RELEASES_H

#include <string>
#include <vector>

#include "check.h"
#include "releases.gen.h"

namespace releases {

// The steps capture nothing; a std::function for each of them would account for half of the compile
// time.
using Step = void (*)();

// One call by which rank 1 notifies others of what it has stored. What precedes and follows the
// call is hidden from Nearcache.
struct Row {
  std::string symbol;
  Step prepare, call, finish;
  Step partner = nullptr;  // what rank 0 does meanwhile
};
using Rows = std::vector<Row>;

void add_collectives(Rows& rows);
void add_files(Rows& rows);

// The numbers of two ranks, as arrays of the type that a call requires.
struct Numbers {
  int small[2];
  int64_t large[2];
  Numbers(int first, int second) : small{first, second}, large{first, second} {}
  template <class Number>
  operator const Number*() const {
    static_assert(sizeof(Number) == sizeof(int) || sizeof(Number) == sizeof(int64_t));
    return reinterpret_cast<const Number*>(
        sizeof(Number) == sizeof(int) ? static_cast<const void*>(small) : large);
  }
};

inline int sent[8], received[8];
inline const Numbers ones{1, 1}, places{0, 1}, bytes{0, 4};
inline const MPI_Datatype ints[2] = {MPI_INT, MPI_INT};
inline MPI_Comm self, ring, made, other;  // self: this rank alone; ring: with a topology
inline MPI_Request request, peer;
inline MPI_Win win;
inline void* memory;

}  // namespace releases

#define PREPARE(...) [] { __VA_ARGS__; }
#define FINISH(...) [] { __VA_ARGS__; }
#define NOTHING [] {}
#define WAIT FINISH(HIDDEN(MPI_Wait)(&request, MPI_STATUS_IGNORE))
#define FREE_REQUEST FINISH(HIDDEN(MPI_Request_free)(&request))
#define FREE_COMM FINISH(HIDDEN(MPI_Comm_free)(&made))

#define ROW(symbol, prepare, arguments, finish) \
  if (has_##symbol)                             \
    rows.push_back({#symbol, prepare, [] { EXPECT_EQ(symbol arguments, MPI_SUCCESS); }, finish});
// The row, and its variant with large counts.
#define BOTH(symbol, prepare, arguments, finish) \
  ROW(symbol, prepare, arguments, finish)        \
  ROW(symbol##_c, prepare, arguments, finish)

#endif
