// SPDX-License-Identifier: BSD-3-Clause

// The time of one-sided communication by size, as measured in the foMPI paper (SC'13, section 3.1):
// a put, get, sum, minimum or compare-and-swap followed by a flush; 1,000 puts followed by one
// flush; and the share of a put's latency that can be spent computing. Rank 0 measures. Meanwhile
// rank 1, the target, is in a barrier, where any MPI makes progress.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <sstream>

#include "bench.h"

using bench::now_ns;
using bench::Rows;

namespace {

constexpr int origin = 0, target = 1;
constexpr int at_once = 1000;  // number of puts in a rate measurement
// Whole pages: with other sizes, MPICH 4 maps rank 1's memory at a different offset for rank 0 than
// for rank 1 itself.
constexpr int largest = 1 << 21, elements = largest / 8;
// Displacements of the data that is read and written, of the sums, of the minima, and of the word
// that is compared and swapped.
constexpr MPI_Aint data = 0, sums = elements, mins = 2 * elements, swaps = 3 * elements;
constexpr MPI_Aint words = 4 * elements;

int rank = 0;

struct Place {
  MPI_Win window;
  std::int64_t* mine;
  int size = 8;  // of each operation's data, in bytes
  std::int64_t added = 0, swapped = 0;
  std::vector<std::int64_t> ones = std::vector<std::int64_t>(elements, 1);
  std::vector<std::int64_t> got = std::vector<std::int64_t>(elements);
};

void flush(Place& place) { MPI_Win_flush(target, place.window); }

void put(Place& place) {
  MPI_Put(place.ones.data(), place.size, MPI_BYTE, target, data, place.size, MPI_BYTE,
          place.window);
}

void accumulate(Place& place, MPI_Aint at, MPI_Op operation) {
  const int count = place.size / 8;
  MPI_Accumulate(place.ones.data(), count, MPI_INT64_T, target, at, count, MPI_INT64_T, operation,
                 place.window);
  flush(place);
}

struct Call {
  const char* name;
  int sizes_to;    // largest size, in bytes
  int operations;  // per call
  void (*once)(Place&);
};

const std::vector<Call> calls = {
    {"get", largest, 1,
     [](Place& place) {
       MPI_Get(place.got.data(), place.size, MPI_BYTE, target, data, place.size, MPI_BYTE,
               place.window);
       flush(place);
     }},
    {"put", largest, 1, [](Place& place) { put(place), flush(place); }},
    {"rate", 1 << 15, at_once,
     [](Place& place) {
       for (int i = 0; i < at_once; ++i) put(place);
       flush(place);
     }},
    {"sum", largest, 1, [](Place& place) { accumulate(place, sums, MPI_SUM), ++place.added; }},
    {"min", largest, 1, [](Place& place) { accumulate(place, mins, MPI_MIN); }},
    {"compare_and_swap", 8, 1,
     [](Place& place) {
       const std::int64_t next = place.swapped + 1;
       std::int64_t before = -1;
       MPI_Compare_and_swap(&next, &place.swapped, &before, MPI_INT64_T, target, swaps,
                            place.window);
       flush(place);
       place.swapped += before == place.swapped;
     }},
};

double timed(const Call& call, Place& place, int count) {
  const std::int64_t start = now_ns();
  for (int i = 0; i < count; ++i) call.once(place);
  return static_cast<double>(now_ns() - start) / 1e3 / count / call.operations;
}

// Returns a number of calls that takes long compared with the clock's resolution.
int block_of(const Call& call, Place& place) {
  const int warm = call.operations == 1 ? 20 : 1;
  timed(call, place, warm);
  const double once_us = timed(call, place, warm) * call.operations;
  return std::clamp(static_cast<int>(20 / once_us), 1, 1000);
}

void measure(const Call& call, Place& place, std::int64_t budget_ns, Rows& rows) {
  std::vector<double> blocks;
  if (rank == origin) {
    const int block = block_of(call, place);
    const std::int64_t start = now_ns();
    while (blocks.size() < 3 || now_ns() - start < budget_ns)
      blocks.push_back(timed(call, place, block));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  rows.begin();
  rows.field("call", call.name);
  rows.field("size", place.size);
  rows.field("us", blocks);
}

// Measures the share of a put's latency that is hidden by a computation between put and flush that
// is a fifth longer than the latency.
void overlap(Place& place, std::int64_t budget_ns, Rows& rows) {
  std::vector<double> shares;
  if (rank == origin) {
    const Call& plain = calls[1];
    const int block = block_of(plain, place);
    const std::int64_t start = now_ns();
    while (shares.size() < 5 || now_ns() - start < budget_ns) {
      const double latency = timed(plain, place, block) * 1e3;
      const auto length = static_cast<std::int64_t>(1.2 * latency);
      double exposed = 0;
      for (int i = 0; i < block; ++i) {
        const std::int64_t begin = now_ns();
        put(place);
        const std::int64_t computing = now_ns();
        std::int64_t computed = computing;
        while (computed - computing < length) computed = now_ns();
        flush(place);
        exposed += static_cast<double>(now_ns() - begin - (computed - computing));
      }
      shares.push_back(1 - exposed / block / latency);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  rows.begin();
  rows.field("call", "overlap");
  rows.field("size", place.size);
  rows.field("share", shares);
}

// Checks the effects of the operations on the target's memory.
bool correct(Place& place) {
  std::int64_t done[2] = {place.added, place.swapped};
  MPI_Bcast(done, 2, MPI_INT64_T, origin, MPI_COMM_WORLD);
  if (rank != target) return true;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, place.window);
  const bool right = place.mine[sums] == done[0] && place.mine[swaps] == done[1] &&
                     place.mine[data] == 1 && place.mine[mins] == 1;
  MPI_Win_unlock(target, place.window);
  return right;
}

bool listed(const std::string& list, const std::string& name) {
  std::istringstream names(list);
  for (std::string each; std::getline(names, each, ',');)
    if (each == name) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bench::Arguments arguments(argc, argv,
                             {bench::text("except", "", "Calls to leave out"),
                              bench::number("milliseconds", 20, "Time for each call and size"),
                              bench::text("memory", "created", "created or allocated")});
  const std::int64_t budget_ns = arguments.number("milliseconds") * 1000000;
  const std::string except = arguments.text("except");
  Rows rows;
  Place place;
  std::vector<std::int64_t> memory;
  place.mine = bench::make_words(arguments.text("memory"), words, &memory, &place.window);
  std::fill_n(place.mine + mins, elements, std::numeric_limits<std::int64_t>::max());
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == origin) MPI_Win_lock_all(0, place.window);
  for (place.size = 8; place.size <= largest; place.size *= 8) {
    for (const Call& call : calls)
      if (place.size <= call.sizes_to && !listed(except, call.name))
        measure(call, place, budget_ns, rows);
    if (!listed(except, "overlap")) overlap(place, budget_ns, rows);
  }
  const bool arrived = rank != origin || place.got[0] == 1;
  if (rank == origin) MPI_Win_unlock_all(place.window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!correct(place) || !arrived) {
    std::fputs("bench_rma_sizes: wrong result\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Win_free(&place.window);
  rows.write(arguments.text("out"));
  MPI_Finalize();
}
