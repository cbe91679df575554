// SPDX-License-Identifier: BSD-3-Clause

// The cost of messages while a coherent window is idle, compared with a window that is not cached.
//
// Each turn creates a window in one of the two modes, in random order for each pair of turns, and
// exchanges messages between the two ranks. Only this shows a difference of about one in a
// thousand: between two runs of the same program, the times of the same messages differ by several
// percent. Without the preload object both windows are plain, and the ratio of that run is the
// error of the measurement itself.
#include <cstdlib>

#include "bench.h"

using bench::Rows;
using bench::Window;

namespace {

constexpr std::size_t window_bytes = 1 << 16;

// Both ranks send and receive a word. Appends the nanoseconds per exchange, averaged over each
// group.
void exchange(int peer, std::size_t groups, std::size_t group, std::vector<double>& ns) {
  std::uint64_t out = groups, in = 0;
  for (std::size_t i = 0; i < groups; ++i) {
    const std::int64_t start = bench::now_ns();
    for (std::size_t j = 0; j < group; ++j) {
      MPI_Request request;
      MPI_Irecv(&in, 1, MPI_UINT64_T, peer, 1, MPI_COMM_WORLD, &request);
      MPI_Send(&out, 1, MPI_UINT64_T, peer, 1, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      out += in;
    }
    ns.push_back(static_cast<double>(bench::now_ns() - start) / static_cast<double>(group));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::Arguments arguments(argc, argv,
                             {bench::number("pairs", 200, "Turns of each mode"),
                              bench::number("groups", 50, "Measured values of a turn"),
                              bench::number("messages", 10, "Messages of a value")});
  const auto groups = static_cast<std::size_t>(arguments.number("groups"));
  const auto group = static_cast<std::size_t>(arguments.number("messages"));
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  bench::Random random(1);  // the same on both ranks
  std::vector<double> idle, plain, warming;
  for (std::int64_t pair = 0; pair < arguments.number("pairs"); ++pair) {
    const bool coherent_first = random.below(2) != 0;
    for (const bool coherent : {coherent_first, !coherent_first}) {
      Window window(Window::Memory::allocated, window_bytes, window_bytes,
                    {{"nearcache_mode", coherent ? "coherent" : "off"}});
      exchange(1 - me, groups / 10, group, warming);
      exchange(1 - me, groups, group, coherent ? idle : plain);
    }
  }
  Rows rows;
  rows.begin();
  rows.field("idle_ns", idle);
  rows.field("plain_ns", plain);
  rows.write(arguments.text("out"));
  MPI_Finalize();
}
