// Shared by the cases of coherent.cpp: mode coherent (docs/semantics.md, "Coherent mode"). Rank 0
// reads the memory of rank 1; rank 2 writes to it.
#ifndef NEARCACHE_TESTS_COHERENT_H
#define NEARCACHE_TESTS_COHERENT_H

#include <functional>
#include <utility>
#include <vector>

#include "check.h"

namespace coherent {

constexpr int reader = 0, owner = 1, writer = 2;
constexpr int64_t words = 64;   // of a window that are checked
constexpr int64_t place = 5;    // the word that cases change
constexpr int64_t spread = 64;  // each word is fetched separately and has a region of its own

// The kind of epoch in which the reader reads.
enum class Access { lock_all, no_check, fence, locks };

// The parameters of a case's window; each rank may have its own.
struct Wanted {
  Access access = Access::lock_all;
  const char* mode = "coherent";
  bool allocate = true;
  void* memory = nullptr;  // or the program's own, of this many bytes
  int64_t bytes = words * spread * 8;
  int64_t stride = spread;  // distance of the checked words, in words
  int unit = 8;
  MPI_Comm comm = MPI_COMM_NULL;  // all ranks
};

// A window for which every rank knows that word i of the owner holds expected[i].
struct Window {
  MPI_Win win;
  int64_t* memory;
  Access access;
  int64_t stride;
  std::vector<int> units;
  std::vector<int64_t> expected;
  int64_t version = 0;
  int64_t put = 0;  // what is being put: a fence completes it

  MPI_Aint at(int64_t word, int target = owner) const { return word * stride * 8 / units[target]; }
  void store(int64_t word, int64_t value) const {
    reinterpret_cast<volatile int64_t*>(memory)[word * stride] = value;
  }
  // Returns the new value of a word. Called by all ranks, whichever of them changes the word.
  int64_t next(int64_t word = place) { return expected[word] = ++version * 1000 + word; }
};

// Returns whether hits on kept data are required: with Nearcache, on an MPI and at a thread level
// that support them.
bool must_keep();
uint64_t kept(const Window& window);

void with_window(const Wanted& wanted, const std::function<void(Window&)>& body);

// Collective. The reader reads and checks all words; with Access::fence, the epoch ends.
void read_all(Window& window);
// Collective. Reads across barriers until the reader serves what it kept; fails if that does not
// happen although `keeps` is set.
void settle(Window& window, bool keeps = true);
// Collective. In this order: `change` changes words, `tell` notifies the reader, the reader reads;
// three times, after settle().
using Step = std::function<void(Window&)>;
void seen_after(const Wanted& wanted, const Step& change, const Step& tell, bool keeps = true);

// Ways to notify the reader.
void barrier(Window&);
void message(int from, int to);
void owner_sends(Window&);
void writer_sends(Window&);
void writer_sends_owner_sends(Window&);

// Ways to change words.
void owner_stores(Window& window);
void writer_puts(Window& window);

// Returns the reader's value on all ranks, by a call that Nearcache does not see.
int64_t all_learn(int64_t of_reader);

void add_stores(std::vector<check::Case>& cases);
void add_writes(std::vector<check::Case>& cases);
void add_windows(std::vector<check::Case>& cases);

}  // namespace coherent

#endif
