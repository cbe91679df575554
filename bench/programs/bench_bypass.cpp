// SPDX-License-Identifier: BSD-3-Clause

// What Nearcache adds to a call when it has nothing to do: MPI_Get + MPI_Win_flush and other pairs,
// compared with their PMPI versions on the same bytes in the same process, in alternating blocks.
// Runs over shared memory, where a pair is cheap enough to show a few nanoseconds.
#include <dlfcn.h>

#include <cstdlib>

#include "bench.h"

using bench::Rows;
using bench::Window;

namespace {

struct Block {
  MPI_Win window;
  int target;
  unsigned char* bytes;
  int size;
  int pairs;
};

// The calls of a block, either through Nearcache or past it. The latter are looked up at run time,
// because Nearcache leaves the windows of a program alone that itself calls PMPI_ functions.
struct Calls {
  decltype(&MPI_Get) get;
  decltype(&MPI_Put) put;
  decltype(&MPI_Rget) rget;
  decltype(&MPI_Win_flush) flush;
  decltype(&MPI_Wait) wait;
  decltype(&MPI_Test) test;
};

const Calls through = {MPI_Get, MPI_Put, MPI_Rget, MPI_Win_flush, MPI_Wait, MPI_Test};

template <class Call>
void look_up(Call& call, const char* name) {
  call = reinterpret_cast<Call>(dlsym(RTLD_DEFAULT, name));
}

Calls past() {
  Calls calls = through;
  look_up(calls.get, "PMPI_Get");
  look_up(calls.put, "PMPI_Put");
  look_up(calls.rget, "PMPI_Rget");
  look_up(calls.flush, "PMPI_Win_flush");
  look_up(calls.wait, "PMPI_Wait");
  look_up(calls.test, "PMPI_Test");
  return calls;
}

void get_flush(const Calls& calls, const Block& block) {
  for (int i = 0; i < block.pairs; ++i) {
    calls.get(block.bytes, block.size, MPI_BYTE, block.target, i * block.size, block.size, MPI_BYTE,
              block.window);
    calls.flush(block.target, block.window);
  }
}

void put_flush(const Calls& calls, const Block& block) {
  for (int i = 0; i < block.pairs; ++i) {
    calls.put(block.bytes, block.size, MPI_BYTE, block.target, i * block.size, block.size, MPI_BYTE,
              block.window);
    calls.flush(block.target, block.window);
  }
}

void rget_wait(const Calls& calls, const Block& block) {
  for (int i = 0; i < block.pairs; ++i) {
    MPI_Request request;
    calls.rget(block.bytes, block.size, MPI_BYTE, block.target, i * block.size, block.size,
               MPI_BYTE, block.window, &request);
    calls.wait(&request, MPI_STATUS_IGNORE);
  }
}

// A call that is not RMA but an acquire point of an open epoch: here MPI_Test of a null request.
void test(const Calls& calls, const Block& block) {
  for (int i = 0; i < block.pairs; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    int done;
    calls.test(&request, &done, MPI_STATUS_IGNORE);
  }
}

using Work = void (*)(const Calls&, const Block&);

struct Case {
  const char* name;
  const char* mode;  // "": no info key; the environment or the library's default decides
  int target;
  Work work;
  int calls;  // per pair
};

double timed(Work work, const Calls& calls, const Block& block, int calls_each) {
  std::int64_t start = bench::now_ns();
  work(calls, block);
  return static_cast<double>(bench::now_ns() - start) / (block.pairs * calls_each);
}

void compare(const Case& each, const Block& block, int blocks, Rows& rows) {
  const Calls direct = past();
  bench::Random random(7);
  std::vector<double> with, without;
  for (int i = 0; i < 500; ++i) each.work(through, block);  // until cost sampling has decided
  for (int i = 0; i < blocks; ++i) {
    bool with_first = random.below(2);
    if (with_first) with.push_back(timed(each.work, through, block, each.calls));
    without.push_back(timed(each.work, direct, block, each.calls));
    if (!with_first) with.push_back(timed(each.work, through, block, each.calls));
  }
  nearcache_stats stats;
  bool loaded = bench::statistics(block.window, stats);
  rows.begin();
  rows.field("case", each.name);
  rows.field("mode", *each.mode ? each.mode : "default");
  rows.field("calls", each.calls);
  rows.field("size", block.size);
  rows.field("loaded", loaded);
  rows.field("gets", static_cast<double>(stats.gets));
  rows.field("bypassed", static_cast<double>(stats.bypassed));
  rows.field("hits_full", static_cast<double>(stats.hits_full));
  rows.field("with_ns", with);
  rows.field("without_ns", without);
}

void measure(const Case& each, int size, int blocks, Rows& rows) {
  constexpr int pairs = 100;
  bench::InfoKeys keys;
  if (*each.mode) keys.push_back({"nearcache_mode", each.mode});
  std::size_t bytes = static_cast<std::size_t>(pairs) * size;
  Window window(Window::Memory::allocated, bytes, bytes, keys);
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) {
    auto* mine = static_cast<unsigned char*>(std::calloc(1, size));
    compare(each, {window.handle(), each.target, mine, size, pairs}, blocks, rows);
    std::free(mine);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

const std::vector<Case> cases = {
    {"off get+flush", "off", 1, get_flush, 2},
    {"shared get+flush", "", 1, get_flush, 2},
    {"shared Rget+Wait", "", 1, rget_wait, 2},
    {"shared put+flush", "", 1, put_flush, 2},
    {"self get+flush", "", 0, get_flush, 2},
    {"self Rget+Wait", "", 0, rget_wait, 2},
    {"shared get+flush", "always", 1, get_flush, 2},
    {"self get+flush", "always", 0, get_flush, 2},
    {"test", "", 1, test, 1},
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::Arguments arguments(
      argc, argv,
      {bench::number("blocks", 5000, "Blocks of gets"),
       bench::numbers("sizes", "8,1024", "Bytes of a get"),
       bench::text("environment", "", "Measures this alone, set up by the environment")});
  auto blocks = static_cast<int>(arguments.number("blocks"));
  Rows rows;
  for (auto size : arguments.numbers("sizes")) {
    int bytes = static_cast<int>(size);
    if (arguments.text("environment").empty()) {
      for (const Case& each : cases) measure(each, bytes, blocks, rows);
    } else {  // the environment, which the driver names here, decides for all windows
      measure({arguments.text("environment").c_str(), "", 1, get_flush, 2}, bytes, blocks, rows);
    }
  }
  rows.write(arguments.text("out"));
  MPI_Finalize();
}
