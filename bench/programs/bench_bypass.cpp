// What Nearcache adds to a call when it has nothing to do: MPI_Get + MPI_Win_flush beside PMPI_Get +
// PMPI_Win_flush of the same bytes in the same process, in alternating blocks. Runs over shared memory,
// where a get is cheap enough to show a few nanoseconds.
#include <cstdlib>

#include "bench.h"

using bench::Rows;
using bench::Window;

namespace {

struct Block {
  MPI_Win window;
  int target;
  unsigned char *destination;
  int size;
  int pairs;
};

void intercepted(const Block &block) {
  for (int i = 0; i < block.pairs; ++i) {
    MPI_Get(block.destination, block.size, MPI_BYTE, block.target, i * block.size, block.size, MPI_BYTE, block.window);
    MPI_Win_flush(block.target, block.window);
  }
}

void direct(const Block &block) {
  for (int i = 0; i < block.pairs; ++i) {
    PMPI_Get(block.destination, block.size, MPI_BYTE, block.target, i * block.size, block.size, MPI_BYTE, block.window);
    PMPI_Win_flush(block.target, block.window);
  }
}

// A call that is no RMA, but an acquire point of an open epoch: here of a finished request.
void test_intercepted(const Block &block) {
  for (int i = 0; i < block.pairs; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    int done;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

void test_direct(const Block &block) {
  for (int i = 0; i < block.pairs; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    int done;
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

double timed(void (*work)(const Block &), const Block &block, int calls_each) {
  std::int64_t start = bench::now_ns();
  work(block);
  return static_cast<double>(bench::now_ns() - start) / (block.pairs * calls_each);
}

void compare(const char *name, const Block &block, int calls_each, int blocks, Rows &rows, bool rma) {
  auto *through = rma ? intercepted : test_intercepted;
  auto *past = rma ? direct : test_direct;
  bench::Random random(7);
  std::vector<double> with, without;
  for (int i = 0; i < blocks; ++i) {
    bool with_first = random.below(2);
    if (with_first) with.push_back(timed(through, block, calls_each));
    without.push_back(timed(past, block, calls_each));
    if (!with_first) with.push_back(timed(through, block, calls_each));
  }
  nearcache_stats stats;
  bool loaded = bench::statistics(block.window, stats);
  rows.begin();
  rows.field("case", name);
  rows.field("size", block.size);
  rows.field("loaded", loaded);
  rows.field("gets", static_cast<double>(stats.gets));
  rows.field("bypassed", static_cast<double>(stats.bypassed));
  rows.field("hits_full", static_cast<double>(stats.hits_full));
  rows.field("with_ns", with);
  rows.field("without_ns", without);
}

// mode "": no info key, so what the environment or the library's default says.
void measure(const char *name, const char *mode, int target, int size, int blocks, Rows &rows) {
  constexpr int pairs = 100;
  bench::InfoKeys keys;
  if (*mode) keys.push_back({"nearcache_mode", mode});
  std::size_t bytes = static_cast<std::size_t>(pairs) * size;
  Window window(Window::Memory::allocated, bytes, bytes, keys);
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) {
    auto *destination = static_cast<unsigned char *>(std::calloc(1, size));
    Block block{window.handle(), target, destination, size, pairs};
    for (int i = 0; i < 500; ++i) intercepted(block);  // sampling has decided after these
    compare(name, block, 2, blocks, rows, true);
    if (size == 8 && target == 1) compare((std::string("test-") + name).c_str(), block, 1, blocks, rows, false);
    std::free(destination);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  bench::Arguments arguments(argc, argv);
  auto blocks = static_cast<int>(arguments.number("blocks", 5000));
  Rows rows;
  for (auto size : arguments.numbers("sizes", "8,1024")) {
    int bytes = static_cast<int>(size);
    if (arguments.text("environment", "").empty()) {
      measure("off", "off", 1, bytes, blocks, rows);
      measure("shared-transparent", "", 1, bytes, blocks, rows);
      measure("shared-always", "always", 1, bytes, blocks, rows);
      measure("self-transparent", "", 0, bytes, blocks, rows);
      measure("self-always", "always", 0, bytes, blocks, rows);
    } else {  // the environment decides for all windows: named by the driver
      measure(arguments.text("environment", "").c_str(), "", 1, bytes, blocks, rows);
    }
  }
  rows.write(arguments.text("out", ""));
  MPI_Finalize();
}
