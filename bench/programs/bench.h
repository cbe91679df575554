// SPDX-License-Identifier: BSD-3-Clause

// What the benchmark programs share: arguments, clock, windows with info keys, statistics and JSON
// rows.
//
// Rank 0 measures, rank 1 is the target; most programs run on two ranks. Without the preload
// object, the same programs measure plain MPI: info keys are ignored and nearcache_get_stats is not
// found.
#ifndef NEARCACHE_BENCH_H
#define NEARCACHE_BENCH_H

#include <mpi.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "nearcache/stats.h"

namespace bench {

// This program's arguments. A malformed command line ends the program on all ranks; rank 0 prints
// the reason.
class Arguments : public Options {
 public:
  Arguments(int argc, char** argv, std::vector<Option> options);
};

std::int64_t now_ns();

// xorshift64*: fast, with the same sequence on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  // [0, 1)

 private:
  std::uint64_t state_;
};

std::vector<std::uint32_t> shuffled(std::size_t count, Random& random);

using InfoKeys = std::vector<std::pair<std::string, std::string>>;

// Creates a window of `words` zeroed words on each rank, with MPI_Win_create on `own` if `memory`
// is "created", otherwise with MPI_Win_allocate. Returns this rank's window memory.
std::int64_t* make_words(const std::string& memory, std::size_t words,
                         std::vector<std::int64_t>* own, MPI_Win* window);

// A window in a lock_all epoch, filled with pattern(). Rank 1 exposes `exposed` bytes, other ranks
// `own` bytes.
class Window {
 public:
  enum class Memory { created, allocated };  // MPI_Win_create, MPI_Win_allocate
  Window(Memory memory, std::size_t exposed, std::size_t own, const InfoKeys& keys);
  // Creates a second window over the memory of `other`, which must outlive it.
  Window(const Window& other, const InfoKeys& keys);
  ~Window();
  Window& operator=(const Window&) = delete;

  MPI_Win handle() const { return handle_; }

 private:
  void open();
  std::size_t bytes_ = 0;
  unsigned char* base_ = nullptr;
  bool owned_ = false;
  MPI_Win handle_ = MPI_WIN_NULL;
};

// The byte at `offset` of every window, so that fetched data can be checked.
inline unsigned char pattern(std::size_t offset) {
  return static_cast<unsigned char>(offset * 131 >> 3 ^ offset);
}

// Gets Nearcache's statistics of `window`; returns false if Nearcache is not loaded.
bool statistics(MPI_Win window, nearcache_stats& stats);

// Drops the cached data of `window`; does nothing if Nearcache is not loaded.
void invalidate(MPI_Win window);

// A barrier in which every rank but rank 0 sleeps between polls, leaving rank 0 its core.
void quiet_barrier();

// A list of flat JSON objects, which rank 0 writes to the file given by --out.
class Rows {
 public:
  void begin();
  void field(const std::string& key, const std::string& value);
  void field(const std::string& key, double value);
  void field(const std::string& key, const std::vector<double>& values);
  void counters(const nearcache_stats& stats);  // one field per counter
  void write(const std::string& path) const;

 private:
  void key(const std::string& name);
  std::string text_;
};

}  // namespace bench
#endif
