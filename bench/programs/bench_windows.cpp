// SPDX-License-Identifier: BSD-3-Clause

// The life of a window, as in programs that make one for each phase: both ranks create it, read
// `gets` words of each other, each once and with a flush, and free it.
#include <cstdlib>

#include "bench.h"

using bench::Rows;

namespace {

constexpr int words = 1 << 14;

void live(int peer, int gets, const std::string& memory, std::vector<std::int64_t>* own,
          std::int64_t* read) {
  MPI_Win window;
  bench::make_words(memory, words, own, &window);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < gets; ++i) {
    const MPI_Aint at = static_cast<MPI_Aint>(i) * 37 % words;
    MPI_Get(read, 1, MPI_INT64_T, peer, at, 1, MPI_INT64_T, window);
    MPI_Win_flush(peer, window);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::Arguments arguments(argc, argv,
                             {bench::number("windows", 200, "Windows for each number of gets"),
                              bench::text("memory", "created", "created or allocated")});
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  std::vector<std::int64_t> own;
  Rows rows;
  for (const int gets : {0, 10, 100, 1000}) {
    std::vector<double> us;
    std::int64_t read = 0;
    for (std::int64_t i = -10; i < arguments.number("windows"); ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      const std::int64_t start = bench::now_ns();
      live(1 - me, gets, arguments.text("memory"), &own, &read);
      if (i >= 0) us.push_back(static_cast<double>(bench::now_ns() - start) / 1e3);
    }
    rows.begin();
    rows.field("gets", gets);
    rows.field("us", us);
  }
  rows.write(arguments.text("out"));
  MPI_Finalize();
}
