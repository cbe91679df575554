// Shared by the cases of coherent.cpp: mode coherent (docs/semantics.md, "Coherent mode"). Rank 0
// reads what rank 1 owns and rank 2 writes.
#ifndef NEARCACHE_TESTS_COHERENT_H
#define NEARCACHE_TESTS_COHERENT_H

#include <functional>
#include <utility>
#include <vector>

#include "check.h"

namespace coherent {

constexpr int reader = 0, owner = 1, writer = 2;
constexpr int64_t words = 64;   // of a window that are looked at
constexpr int64_t place = 5;    // the word that cases change
constexpr int64_t spread = 64;  // so that each is fetched by itself, and has a region of its own

// How the reader reads.
enum class Access { lock_all, no_check, fence, locks };

// What a case asks for; each rank may ask for its own.
struct Wanted {
  Access access = Access::lock_all;
  const char* mode = "coherent";
  bool allocate = true;
  void* memory = nullptr;  // or the program's own, of this many bytes
  int64_t bytes = words * spread * 8;
  int64_t stride = spread;  // from one word that is looked at to the next, in words
  int unit = 8;
  MPI_Comm comm = MPI_COMM_NULL;  // all ranks
};

// Word i of the owner holds expected[i], as every rank knows.
struct Window {
  MPI_Win win;
  int64_t* memory;
  Access access;
  int64_t stride;
  std::vector<int> units;
  std::vector<int64_t> expected;
  int64_t version = 0;

  MPI_Aint at(int64_t word, int target = owner) const { return word * stride * 8 / units[target]; }
  void store(int64_t word, int64_t value) const {
    reinterpret_cast<volatile int64_t*>(memory)[word * stride] = value;
  }
  // Every rank says so of what one of them changes, and gets the new value.
  int64_t next(int64_t word = place) { return expected[word] = ++version * 1000 + word; }
};

// Whether kept hits must happen: with Nearcache, on an MPI and thread level that can.
bool must_keep();
uint64_t kept(const Window& window);

void with_window(const Wanted& wanted, const std::function<void(Window&)>& body);

// Collective: the reader reads all words, and checks them. The epoch of a fence ends.
void read_all(Window& window);
// Collective: reads over barriers until the reader serves what it kept, which must happen where
// `keeps`.
void settle(Window& window, bool keeps = true);
// Collective, in one order: `change` changes words, `tell` lets the reader know, the reader reads;
// three times, settled before.
using Step = std::function<void(Window&)>;
void seen_after(const Wanted& wanted, const Step& change, const Step& tell, bool keeps = true);

// Ways to tell.
void barrier(Window&);
void message(int from, int to);
void owner_sends(Window&);
void writer_sends(Window&);
void writer_sends_owner_sends(Window&);

// Ways to change.
void owner_stores(Window& window);
void writer_puts(Window& window);

// By a number that all ranks learn, unseen by Nearcache.
int64_t all_learn(int64_t of_reader);

void add_stores(std::vector<check::Case>& cases);
void add_writes(std::vector<check::Case>& cases);
void add_windows(std::vector<check::Case>& cases);

}  // namespace coherent

#endif
