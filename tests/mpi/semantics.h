// Shared by the groups of rows of semantics.cpp.
#ifndef NEARCACHE_TESTS_SEMANTICS_H
#define NEARCACHE_TESTS_SEMANTICS_H

#include <cstdlib>

#include "check.h"

namespace semantics {

constexpr int64_t words = 64;  // of each rank's window
constexpr int target = 1;      // the rank whose window rank 0 reads
constexpr int64_t place = 5;   // the word under test
constexpr int64_t far_place = 40;

struct Window {
  MPI_Win win;
  int64_t* memory;
  int64_t version;  // of the contents; the same on all ranks
  bool allocated;
  bool created;
};

// The calls of a row are made by rank 0, its origin, and by the target. The other ranks are
// neighbours: they only read, before the target changes its memory. Where ranks share their caches
// (option share), what they fetch is in the origin's cache, too.
inline bool origin() { return check::rank == 0; }
inline bool neighbour() { return check::rank > target; }
inline bool shares() { return check::cached() && std::getenv("NEARCACHE_SHARE") != nullptr; }
// Returns a communicator of origin and target; on neighbours, one of the neighbours.
MPI_Comm pair();

// Returns whether the completion of a plain get is an acquire; otherwise a program must not learn
// of changes by it.
inline bool strict_flush() { return std::getenv("NEARCACHE_STRICT_FLUSH") != nullptr; }

inline int64_t value(int64_t version, int64_t word) { return version * 1000 + word; }

inline void get(Window& window, int64_t* to, int64_t word = place) {
  MPI_Get(to, 1, MPI_INT64_T, target, word, 1, MPI_INT64_T, window.win);
}

// Collective. Owners store new contents in an exclusive epoch. No rank may hold an epoch.
void change(Window& window);

// Collective, before a change. Neighbours read both places, in an epoch of their own or in the one
// already open.
void neighbours_read(Window& window);
void neighbours_read_within(Window& window);

// Called by the target only: stores new contents while this rank holds a shared epoch on itself.
void change_in_epoch(Window& window);

// Runs `body` with a window of all ranks in mode `mode`.
void with_window(bool allocate, const char* mode, const std::function<void(Window&)>& body);

void add_complete_rows(std::vector<check::Case>& cases);
void add_learn_rows(std::vector<check::Case>& cases);
void add_write_rows(std::vector<check::Case>& cases);
void add_mode_rows(std::vector<check::Case>& cases);

}  // namespace semantics

#endif
