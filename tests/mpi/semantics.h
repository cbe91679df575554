// Shared by the groups of rows of semantics.cpp.
#ifndef NEARCACHE_TESTS_SEMANTICS_H
#define NEARCACHE_TESTS_SEMANTICS_H

#include <cstdlib>

#include "check.h"

namespace semantics {

constexpr int64_t words = 64;  // of each rank's window
constexpr int target = 1;      // whose window rank 0 reads
constexpr int64_t place = 5;   // the word under test
constexpr int64_t far_place = 40;

struct Window {
  MPI_Win win;
  int64_t* memory;
  int64_t version;  // of the contents, the same on all ranks
  bool allocated;
  bool created;
};

// The calls of a row are those of rank 0, its origin, and of the target. Other ranks are
// neighbours: they only read, before the target changes its memory. Where ranks share their caches
// (option share), what they fetch is in the origin's, too.
inline bool origin() { return check::rank == 0; }
inline bool neighbour() { return check::rank > target; }
inline bool shares() { return check::cached() && std::getenv("NEARCACHE_SHARE") != nullptr; }
// A communicator of origin and target; of neighbours among themselves.
MPI_Comm pair();

// Whether the completion of a plain get is an acquire; else a program must not learn by it.
inline bool strict_flush() { return std::getenv("NEARCACHE_STRICT_FLUSH") != nullptr; }

inline int64_t value(int64_t version, int64_t word) { return version * 1000 + word; }

inline void get(Window& window, int64_t* to, int64_t word = place) {
  MPI_Get(to, 1, MPI_INT64_T, target, word, 1, MPI_INT64_T, window.win);
}

// Collective: new contents, stored by their owners in an exclusive epoch. No rank may hold an
// epoch.
void change(Window& window);

// Collective, before a change: neighbours read both places, in an epoch of their own, or in the one
// that they have.
void neighbours_read(Window& window);
void neighbours_read_within(Window& window);

// On the target only: new contents while this rank holds a shared epoch on itself.
void change_in_epoch(Window& window);

// A window of all ranks in mode `mode` around `body`.
void with_window(bool allocate, const char* mode, const std::function<void(Window&)>& body);

void add_complete_rows(std::vector<check::Case>& cases);
void add_learn_rows(std::vector<check::Case>& cases);
void add_write_rows(std::vector<check::Case>& cases);
void add_mode_rows(std::vector<check::Case>& cases);

}  // namespace semantics

#endif
